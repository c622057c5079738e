import { setTimeout as delay } from 'node:timers/promises';
import type { CompleteTransferRequest } from '@framelane/contracts/internal-api';
import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import pTimeout from 'p-timeout';
import type { ControlPlaneClient } from '../control-plane-client.ts';
import { storageFailed } from './upload-problems.ts';

/** Delay before the next request to register a file. */
const REGISTER_DELAY_MS = 500;

/** How long the engine waits after its last request until the broker confirms `upload.completed`. */
const CONFIRM_TIMEOUT_MS = 5_000;

/** The registration of one stored file. */
export class Registration {
  readonly #deps: { controlPlane: ControlPlaneClient; bus: MessageBus; logger: Logger };
  /** The file may be registered, now or later, so the engine must not delete it. */
  mayBeRegistered = false;
  /** `upload.completed` is in the queue. When the control plane handles it, it uses or releases the ticket. */
  isLeftToEvent = false;

  constructor(deps: { controlPlane: ControlPlaneClient; bus: MessageBus; logger: Logger }) {
    this.#deps = deps;
  }

  /**
   * Resolves once the control plane has registered the file. While the outcome of a request is unknown, the engine retries until
   * `seconds` have passed or `stop` aborts. It also publishes `upload.completed`, so that a complete file is registered even if
   * this engine ends.
   */
  async register(upload: CompleteTransferRequest, seconds: number, stop: AbortSignal): Promise<void> {
    const deadline = performance.now() + seconds * 1000;
    let event: Promise<void> | undefined;
    for (;;) {
      try {
        await this.#deps.controlPlane.completeTransfer(upload);
        return;
      } catch (error) {
        this.mayBeRegistered = isOutcomeUnknown(error);
        if (!this.mayBeRegistered) throw error;
        event ??= this.#leaveToEvent(upload);
        if (performance.now() >= deadline || stop.aborted) {
          await pTimeout(event, { milliseconds: CONFIRM_TIMEOUT_MS }).catch(() => {});
          throw unavailable(
            'The upload could not be registered. Send it again. If the response is upload_token_used, the first upload succeeded.',
            error,
          );
        }
      }
      await delay(REGISTER_DELAY_MS);
    }
  }

  /** Never rejects. */
  async #leaveToEvent(upload: CompleteTransferRequest): Promise<void> {
    const { bus, logger } = this.#deps;
    const { videoId, transferId } = upload;
    try {
      await bus.publish(createMessage('upload.completed', upload));
      this.isLeftToEvent = true;
    } catch (error) {
      logger.warn('upload.completed_not_published', { videoId, transferId, error });
    }
  }
}

/** Throws a Problem unless the object store holds a file of this size. */
export async function verifyStored(objects: ObjectStore, key: string, bytes: number): Promise<void> {
  const info = await objects.head(key).catch((error: unknown) => {
    throw storageFailed(error);
  });
  if (info?.bytes !== bytes) {
    throw storageFailed(new Error(`The object store holds ${info?.bytes ?? 'none'} of ${bytes} bytes`));
  }
}

/** Whether the control plane may have performed the request. */
function isOutcomeUnknown(error: unknown): boolean {
  return !(error instanceof Problem) || error.status >= 500;
}
