import type { ServiceClient } from './service-client.ts';
import { TransferError } from './transfer-error.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 20_000;
const LONGEST_WAIT_MS = 2 * 60 * 60_000;

/** Repeats a check until it returns something truthy: less and less often, for up to two hours of pauses. */
export async function poll<T>(
  { pause, signal }: Pick<ServiceClient, 'pause' | 'signal'>,
  what: string,
  check: () => Promise<T>,
): Promise<Exclude<T, undefined | false | ''>> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += pauseMs) {
    const found = await check();
    if (found) return found as Exclude<T, undefined | false | ''>;
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
    await pause(pauseMs, signal);
  }
  throw new TransferError(`${what} for more than two hours. Run the command again later.`);
}
