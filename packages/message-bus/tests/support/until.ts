import { setTimeout as delay } from 'node:timers/promises';

/** Resolves once `condition` holds; rejects when it does not within half a minute. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Still not so: ${condition}`);
    await delay(5);
  }
}
