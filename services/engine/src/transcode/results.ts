import type { Message } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import pTimeout from 'p-timeout';
import { pause } from '../pause.ts';

/**
 * How long a result waits for the broker: longer than other messages, because the work is lost if its result is. While the broker is
 * unreachable, control planes end no lease, so no other engine repeats the work.
 */
const PUBLISH_LIMIT_MS = 120_000;
/** Time limit for the removal of objects after a failure. The control plane purges those that remain. */
const CLEANUP_TIMEOUT_MS = 5000;
/** Delay before a request to the control plane is retried. */
const REQUEST_RETRY_DELAY_MS = 2000;

/**
 * Sends a request to the control plane until it responds: a command that is requeued too often would end in the dead-letter queue. The
 * request must be idempotent, because the control plane may have handled it although its response was lost. Rejects with the reason of the
 * signal.
 */
export async function repeatUntilResponse<T>(
  request: () => Promise<T>,
  { videoId, logger, signal }: { videoId: string; logger: Logger; signal: AbortSignal },
): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      logger.warn('work.request_failed', { videoId, error });
      await pause(REQUEST_RETRY_DELAY_MS, signal);
    }
  }
}

/** Publishes a result. Rejects if the broker does not confirm it. */
export function publishResult(result: Message, bus: MessageBus): Promise<void> {
  return bus.publish(result, { limitMs: PUBLISH_LIMIT_MS });
}

/** Removes what failed work has stored below a prefix. Never rejects. */
export async function removeStored(
  prefix: string,
  facts: object,
  { objects, logger }: { objects: ObjectStore; logger: Logger },
): Promise<void> {
  await pTimeout(objects.deletePrefix(prefix), { milliseconds: CLEANUP_TIMEOUT_MS }).catch(
    (error: unknown) => {
      logger.warn('work.cleanup_failed', { ...facts, error });
    },
  );
}
