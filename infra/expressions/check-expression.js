import { createRequire } from 'node:module';

// recheck's own program takes a tenth of the time of its JavaScript, which it uses where there is no program.
const { check } = createRequire(import.meta.url)('recheck');

/** An expression takes far less than this on an idle machine. */
const TIMEOUT_MS = 120_000;

/** What recheck tries, where it cannot decide, has limits on steps. Limits on time would make the result depend on the machine. */
const WITHOUT_TIME_LIMITS = { seedingTimeout: null, incubationTimeout: null, attackTimeout: null };

/** What is known of expressions, by their text: many occur in several files. */
const flaws = new Map();

/** Resolves with why an expression may take more than linear time, with a text that shows it; null if it does not. */
export function flawOf({ pattern, flags }) {
  const text = `/${pattern}/${flags}`;
  if (!flaws.has(text)) flaws.set(text, findFlaw(pattern, flags));
  return flaws.get(text);
}

/** Only an expression that repeats something without limit can take more than linear time. */
const REPEATS_WITHOUT_LIMIT = /[*+]|\{\d+,\}/;

async function findFlaw(pattern, flags) {
  if (!REPEATS_WITHOUT_LIMIT.test(pattern)) return null;
  const { status, complexity, error, attack } = await check(pattern, flags, {
    ...WITHOUT_TIME_LIMITS,
    timeout: TIMEOUT_MS,
  });
  if (status === 'safe') return null;
  if (status === 'unknown') return `could not be checked (${error?.kind})`;
  return `${complexity?.summary}, for example with ${attack?.pattern}`;
}
