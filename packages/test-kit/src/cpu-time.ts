/** The longest CPU time of a request with small, hostile parts, in milliseconds. */
const LIMIT_MS = 100;

/** The CPU time of this thread while work runs, in milliseconds. */
export async function cpuMilliseconds(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

/** The names of those that take 100 ms of CPU time of this thread or more, in each of three runs. */
export async function slowOnes(
  works: Iterable<readonly [name: string, work: () => unknown]>,
): Promise<string[]> {
  const slow: string[] = [];
  for (const [name, work] of works) {
    const isSlow = async () => (await cpuMilliseconds(work)) >= LIMIT_MS;
    if ((await isSlow()) && (await isSlow()) && (await isSlow())) slow.push(name);
  }
  return slow;
}
