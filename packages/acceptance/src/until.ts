import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 100;

/** Asks until there is an answer other than undefined. Fails with what was waited for after `limitMs`. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  limitMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what} in vain`);
    await pause(PAUSE_MS);
  }
}
