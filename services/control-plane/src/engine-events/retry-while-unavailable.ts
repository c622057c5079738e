import { setTimeout as pause } from 'node:timers/promises';
import type { MessageHandler } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { isDatabaseUnavailable, isTooSlow } from '../db/database-unavailable.ts';

const PAUSE_MS = 1000;

/** Tries of a message the database is too slow for. It may be the message that asks for too much. */
const SLOW_TRIES = 5;

/**
 * The handler, but a message that finds no database is kept in hand until there is one: going back to the queue would
 * count as a failed delivery, and after a few of those it would be put away. One that the database is too slow for is
 * kept for some tries. `stopping` ends the wait; then it goes back.
 */
export function waitForDatabase(
  handler: MessageHandler,
  { logger, stopping, pauseMs = PAUSE_MS }: { logger: Logger; stopping: AbortSignal; pauseMs?: number },
): MessageHandler {
  return async (message, delivery) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await handler(message, delivery);
      } catch (error) {
        if (!mayPass(error, tries) || stopping.aborted) throw error;
        if (tries === 1) logger.warn('event.waits_for_database', { messageId: message.id, error });
        await pause(pauseMs, undefined, { signal: stopping }).catch(() => {});
      }
    }
  };
}

function mayPass(error: unknown, tries: number): boolean {
  return isDatabaseUnavailable(error) || (isTooSlow(error) && tries < SLOW_TRIES);
}
