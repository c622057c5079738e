import { setTimeout as pause } from 'node:timers/promises';

/** Resolves once `condition` holds. Rejects when it does not in time, with what `onGiveUp` knows. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  options: { what?: string; seconds?: number; onGiveUp?: () => string } = {},
): Promise<void> {
  const { what = String(condition), seconds = 60, onGiveUp = () => '' } = options;
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Still not so after ${seconds} s: ${what}. ${onGiveUp()}`);
    await pause(50);
  }
}
