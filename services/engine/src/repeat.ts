/** Runs `task` every `seconds`, but skips a run while the previous one is unfinished. Call the returned function to stop. */
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
