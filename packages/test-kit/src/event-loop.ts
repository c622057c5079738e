/** Milliseconds between two measurements. */
const INTERVAL_MS = 5;

/**
 * The longest time in milliseconds for which the event loop of this process was blocked while the work ran, as CPU time of the thread: other
 * programs on the machine do not lengthen it.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  // The timer cannot run while the event loop is blocked.
  const measure = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000 - INTERVAL_MS);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(measure, INTERVAL_MS);
  try {
    await work();
    // The block that ended the work, before the timer runs.
    measure();
  } finally {
    clearInterval(timer);
  }
  return longest;
}
