/**
 * Runs `task` every `seconds`, never twice at once, until the function returned is called. The task handles its own
 * failures.
 */
export function repeat(seconds: number, task: () => Promise<void>): () => void {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    void task().finally(() => {
      running = false;
    });
  }, seconds * 1000);
  return () => clearInterval(timer);
}
