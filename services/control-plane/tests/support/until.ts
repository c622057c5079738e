import { setTimeout as pause } from 'node:timers/promises';

/** Resolves with the first value that is not undefined or false; fails after the time limit. */
export async function until<T>(look: () => Promise<T | undefined | false>, limitMs = 10_000): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${look}`);
    await pause(25);
  }
}
