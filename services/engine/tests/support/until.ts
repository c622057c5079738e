import { setTimeout as pause } from 'node:timers/promises';

/** Waits until `look` finds something. Fails with what was waited for. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  limitMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what} in vain`);
    await pause(10);
  }
}
