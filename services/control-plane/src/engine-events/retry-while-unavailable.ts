import { setTimeout as pause } from 'node:timers/promises';
import type { MessageHandler } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { isDatabaseUnavailable, isTooSlow } from '../db/database-unavailable.ts';

const PAUSE_MS = 1000;

/** How often a message is handled whose statements exceed their time limit. The message itself may be the cause. */
const SLOW_ATTEMPTS = 5;

/**
 * Retries the handler while the database is unavailable. The broker would count each return of the message to the queue as a
 * failed delivery, and dead-letter it after a few. `stopping` ends the retries and returns the message to the queue.
 */
export function retryWhileUnavailable(
  handler: MessageHandler,
  { logger, stopping, pauseMs = PAUSE_MS }: { logger: Logger; stopping: AbortSignal; pauseMs?: number },
): MessageHandler {
  return async (message, delivery) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await handler(message, delivery);
      } catch (error) {
        if (!isRetryable(error, attempt) || stopping.aborted) throw error;
        if (attempt === 1) logger.warn('event.database_unavailable', { messageId: message.id, error });
        await pause(pauseMs, undefined, { signal: stopping }).catch(() => {});
      }
    }
  };
}

function isRetryable(error: unknown, attempt: number): boolean {
  return isDatabaseUnavailable(error) || (isTooSlow(error) && attempt < SLOW_ATTEMPTS);
}
