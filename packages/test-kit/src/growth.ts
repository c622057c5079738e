/** From one size to the next. */
const STEP = 4;

/** Twice the size may take 2.5 times as long. */
const MAX_RATIO = 2.5 ** Math.log2(STEP);

/** CPU time in milliseconds that any run may take: shorter ones vary too much, with caches and the collection of garbage. */
const FLOOR_MS = 100;

/** Repetitions of a run that took too long: the shortest one counts, because other work on the machine only makes runs longer. */
const REPETITIONS = 5;

/**
 * Throws if the CPU time of the work grows faster than its input: for twice the size, it may take 2.5 times as
 * long. It measures sizes from 1/64 of the limit up to the limit, and stops at the first size that takes too long, so that even work with cubic growth ends soon.
 * `inputOf` makes an input of about this size.
 */
export async function requireLinearTime<T>(
  limit: number,
  inputOf: (size: number) => T,
  work: (input: T) => unknown,
): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  for (let size = limit / 64; size <= limit; size *= STEP) {
    const input = inputOf(size);
    const allowed = Math.max(MAX_RATIO * before, FLOOR_MS);
    let shortest = await cpuMilliseconds(input, work);
    for (let run = 1; run < REPETITIONS && shortest > allowed; run += 1) {
      shortest = Math.min(shortest, await cpuMilliseconds(input, work));
    }
    if (shortest > allowed) {
      const times = `${Math.round(shortest)} ms of CPU time, at a quarter of the size ${Math.round(before)} ms`;
      throw new Error(`The work is not linear: at size ${size} it takes ${times}`);
    }
    before = shortest;
  }
}

/** The CPU time of this thread. */
async function cpuMilliseconds<T>(input: T, work: (input: T) => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await work(input);
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}
