import { CHECK_SECONDS, RENEWALS_PER_LEASE } from '@framelane/contracts/internal-api';
import { createMessage, type MessageData } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import type { ControlPlaneClient } from '../control-plane-client.ts';
import { repeat } from '../repeat.ts';

type TransferIds = Omit<MessageData<'upload.progress'>, 'extendsTicket'>;

type LeaseDeps = { controlPlane: ControlPlaneClient; bus: MessageBus; logger: Logger };

/** The lease of a transfer on its ticket, from `startRenewing` to `release`. */
export class TransferLease {
  readonly #deps: LeaseDeps;
  readonly #transfer: TransferIds;
  readonly #seconds: number;

  constructor(deps: LeaseDeps, transfer: TransferIds, seconds: number) {
    this.#deps = deps;
    this.#transfer = transfer;
    this.#seconds = seconds;
  }

  /**
   * Renews the lease, and calls `onLost` when the control plane says that the transfer is not current any more. Continues while the
   * control plane is unavailable. `extendsTicket` says whether bytes have arrived since its last call. Returns a function that stops this.
   */
  startRenewing(onLost: () => void, extendsTicket: () => boolean = () => false): () => void {
    const renewalSeconds = this.#seconds / RENEWALS_PER_LEASE;
    const stops = [
      repeat(renewalSeconds, () => this.#renew(extendsTicket())),
      repeat(Math.min(CHECK_SECONDS, renewalSeconds), async () => {
        const current = await this.#deps.controlPlane.isTransferCurrent(this.#transfer).catch(() => true);
        if (!current) onLost();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Ends the lease, so that the token works again. Never throws. */
  async release(): Promise<void> {
    const { controlPlane, bus, logger } = this.#deps;
    try {
      await controlPlane.releaseTransfer(this.#transfer);
    } catch (error) {
      logger.warn('upload.release_failed', { ...this.#transfer, error });
      // The queue delivers the event eventually, perhaps after the client has given up.
      bus.publish(createMessage('upload.aborted', this.#transfer)).catch((cause: unknown) => {
        logger.warn('upload.aborted_not_published', { ...this.#transfer, error: cause });
      });
    }
  }

  async #renew(extendsTicket: boolean): Promise<void> {
    const renewal = { ...this.#transfer, ...(extendsTicket && { extendsTicket }) };
    try {
      await this.#deps.bus.publish(createMessage('upload.progress', renewal));
    } catch (error) {
      this.#deps.logger.warn('upload.progress_not_published', { ...this.#transfer, error });
    }
  }
}
