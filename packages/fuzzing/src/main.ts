import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { writeFailure } from './corpus.ts';
import type { Progress } from './fuzz.ts';
import type { Failure } from './run-input.ts';
import type { SearchMessage, SearchOptions } from './search-thread.ts';
import { SharedInput } from './shared-input.ts';
import { loadTarget, TARGETS } from './targets.ts';

const USAGE = `pnpm fuzz <target> [--seconds 60] [--seed <number>] [--keep]
pnpm fuzz all       searches in one target after the other

--keep writes the inputs that reached new code to packages/fuzzing/corpora. An input that fails is always written there.

Targets: ${TARGETS.join(', ')}
`;

/** An input that takes longer hangs: the others take milliseconds. */
const HANG_SECONDS = 20;
/** The parsers promise to need little. */
const MAX_HEAP_MB = 512;

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const seed = Number(values.seed);
const chosen = positionals[0] === 'all' ? TARGETS : TARGETS.filter((name) => name === positionals[0]);

if (chosen.length === 0 || !(seconds > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  for (const name of chosen) if (!(await search(name))) process.exitCode = 1;
}

async function search(name: string): Promise<boolean> {
  const { maxBytes } = await loadTarget(name);
  print(`${name}: ${seconds} s, --seed ${seed}`);
  const shared = SharedInput.ofSize(maxBytes);
  const failure = await inThread(name, shared);
  if (failure === null) return true;
  const path = writeFailure(name, failure.input);
  print(
    `${name}: FAILED\n${failure.reason}\nThe input is in ${path}. In base64:\n${failure.input.toString('base64')}`,
  );
  return false;
}

/** Searches in a thread, which a parser may block or end. */
async function inThread(name: string, shared: SharedInput): Promise<Failure | null> {
  const workerData: SearchOptions = { target: name, seed, seconds, keep: values.keep, memory: shared.memory };
  const worker = new Worker(new URL('search-thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const { promise, resolve } = Promise.withResolvers<Failure | null>();
  const fail = (reason: string) => resolve({ input: shared.get(), reason });
  worker.on('message', (message: SearchMessage) => {
    if ('progress' in message) return describe(name, message.progress);
    describe(name, message.found);
    resolve(
      message.found.failure && { ...message.found.failure, input: Buffer.from(message.found.failure.input) },
    );
  });
  worker.on('error', (error) => fail(`The thread has ended: ${(error as Error).stack ?? error}`));
  worker.on('exit', () => fail('The parser never ends, and waits for nothing.'));
  let runs = -1;
  const watch = setInterval(() => {
    if (shared.runs === runs) fail(`The parser takes longer than ${HANG_SECONDS} s.`);
    runs = shared.runs;
  }, 1000 * HANG_SECONDS);
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}

function describe(name: string, { executions, characters, inputs }: Progress): void {
  print(`${name}: ${executions} runs reach ${characters} characters of code by ${inputs} inputs`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
