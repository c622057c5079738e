import pTimeout from 'p-timeout';
import type { Logger } from './logger.ts';
import { reasonOf } from './reason.ts';

/** Pause between two attempts. */
const RETRY_MS = 1_000;

/** The log repeats a reason this often. */
const LOG_MS = 30_000;

/** Where a start waits for another system. */
export type Wait = {
  /** The setting with the address of the system. */
  setting: string;
  logger: Logger;
  /** Ends the wait at once. */
  signal: AbortSignal;
};

/**
 * Repeats `attempt` until it succeeds, and resolves with its result. Logs why and for how long it waits, and when that ends.
 * Rejects with an error that is not temporary, and with the reason of `signal`.
 */
export async function untilAvailable<T>(
  attempt: () => Promise<T>,
  { setting, logger, signal }: Wait,
  isTemporary: (error: unknown) => boolean = () => true,
): Promise<T> {
  const startMs = performance.now();
  let logged: { reason: string; atMs: number } | undefined;
  const waitedSeconds = () => Math.round((performance.now() - startMs) / 1000);
  for (;;) {
    try {
      const result = await pTimeout(attempt(), { milliseconds: Number.POSITIVE_INFINITY, signal });
      if (logged !== undefined) logger.info('start.available', { setting, waitedSeconds: waitedSeconds() });
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTemporary(error)) throw error;
      const reason = reasonOf(error);
      const atMs = performance.now();
      if (reason !== logged?.reason || atMs - logged.atMs >= LOG_MS) {
        logger.warn('start.waiting', { setting, detail: reason, waitedSeconds: waitedSeconds() });
        logged = { reason, atMs };
      }
    }
    await pause(signal);
  }
}

/**
 * Logs which systems are unavailable, until each has been available once. The service runs meanwhile. The checks begin after a moment,
 * because it takes time to connect.
 */
export function reportUnavailable(
  checks: Readonly<Record<string, () => Promise<void>>>,
  { logger, signal }: Omit<Wait, 'setting'>,
): void {
  for (const [setting, check] of Object.entries(checks)) {
    pause(signal)
      .then(() => untilAvailable(check, { setting, logger, signal }))
      .catch(() => {});
  }
}

/** Resolves after RETRY_MS. Rejects with the reason of `signal`. */
async function pause(signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RETRY_MS);
  });
  try {
    await pTimeout(over, { milliseconds: Number.POSITIVE_INFINITY, signal });
  } finally {
    clearTimeout(timer);
  }
}
