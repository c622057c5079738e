import { cpuMilliseconds } from './cpu-time.ts';

/** From one size to the next. */
const STEP = 4;

/** Twice the size may take 2.5 times as long. */
const MAX_RATIO = 2.5 ** Math.log2(STEP);

/** CPU time in milliseconds that any run may take: shorter ones vary too much, with caches and the collection of garbage. */
const FLOOR_MS = 200;

/** Comparisons of two sizes, one after the other, until one is within the limit: other work on the machine can make one run longer. */
const COMPARISONS = 5;

/**
 * Throws if the CPU time of the work grows faster than its input: for twice the size, it may take 2.5 times as long. It measures sizes from
 * 1/64 of the limit up to the limit, and stops at the first size that takes too long, so that even work with cubic growth ends soon.
 * `inputOf` makes an input of about this size.
 */
export async function requireLinearTime<T>(
  limit: number,
  inputOf: (size: number) => T,
  work: (input: T) => unknown,
): Promise<void> {
  let smaller = inputOf(limit / 64);
  for (let size = (limit / 64) * STEP; size <= limit; size *= STEP) {
    const input = inputOf(size);
    const compared: string[] = [];
    while (compared.length < COMPARISONS) {
      const time = await cpuMilliseconds(() => work(input));
      if (time <= FLOOR_MS) break;
      const before = await cpuMilliseconds(() => work(smaller));
      if (time <= MAX_RATIO * before) break;
      compared.push(`${Math.round(time)} (${Math.round(before)})`);
    }
    if (compared.length === COMPARISONS) {
      const times = `${compared.join(', ')} ms of CPU time (and at 1/${STEP} of the size)`;
      throw new Error(`The work is not linear: at size ${size} it takes ${times}`);
    }
    smaller = input;
  }
}
