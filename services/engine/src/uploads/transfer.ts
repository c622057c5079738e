import { setTimeout as delay } from 'node:timers/promises';
import type { RedeemTicketResponse } from '@framelane/contracts/internal-api';
import { createMessage, type MessageData } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { transferPrefix } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import pTimeout from 'p-timeout';
import type { UploadLimits } from '../config.ts';
import type { ControlPlaneClient } from '../control-plane-client.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { MulterStorage, type StoredSource } from './multer-storage.ts';
import { readMultipart } from './multipart.ts';
import type { HeadroomClaim, StorageHeadroom } from './storage-headroom.ts';
import { ThroughputLimit } from './throughput-limit.ts';
import {
  clientDisconnected,
  fileEmpty,
  fileMissing,
  storageFailed,
  uploadCancelled,
  uploadTimeout,
} from './upload-problems.ts';

/** How often the throughput of the client is checked. */
const THROUGHPUT_SECONDS = 0.5;

/** Longest interval at which the engine asks the control plane whether the transfer is current. */
const CHECK_SECONDS = 5;

/** Delay before the next attempt to register a file. */
const REGISTER_DELAY_MS = 500;

/** How long the engine then waits until the broker confirms `upload.completed`. */
const CONFIRM_TIMEOUT_MS = 5_000;

/** How long the engine waits until the object store has aborted a transfer. */
const ABORT_TIMEOUT_MS = 10_000;

export type TransferDeps = {
  controlPlane: ControlPlaneClient;
  objects: ObjectStore;
  bus: MessageBus;
  logger: Logger;
  metrics: EngineMetrics;
  headroom: StorageHeadroom;
  limits: UploadLimits;
};

/**
 * One attempt to upload a file: streams it into the object store and registers it with the control plane, or releases the
 * ticket for the next attempt.
 */
export class Transfer {
  readonly #deps: TransferDeps;
  readonly #ticket: RedeemTicketResponse;
  readonly #ids: { videoId: string; transferId: string };
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #storage: MulterStorage;
  readonly #stop: AbortSignal;
  #claim: HeadroomClaim | undefined;
  /** The file may be registered, now or later, so the engine must not delete it. */
  #mayBeRegistered = false;
  /** `upload.completed` is in the queue. When the control plane handles it, it uses or releases the ticket. */
  #isLeftToEvent = false;

  /** `stop` aborts the transfer. Its reason is the Problem to respond with. */
  constructor(deps: TransferDeps, ticket: RedeemTicketResponse, stop: AbortSignal) {
    this.#deps = deps;
    this.#ticket = ticket;
    this.#ids = { videoId: ticket.videoId, transferId: ticket.transferId };
    this.#stop = stop;
    this.#signal = AbortSignal.any([this.#abort.signal, stop]);
    this.#storage = new MulterStorage({
      objects: deps.objects,
      key: ticket.sourceKey,
      signal: this.#signal,
      onBytes: async (bytes) => {
        deps.metrics.uploadBytes(bytes);
        await this.#claim?.take(bytes);
      },
    });
  }

  /** Bytes of the file received so far. */
  get bytes(): number {
    return this.#storage.bytes;
  }

  /** Resolves once the file is stored and registered. Otherwise cleans up and throws the Problem to respond with. */
  async run(req: Request, res: Response): Promise<StoredSource> {
    const endWatch = this.#watch(req);
    try {
      this.#claim = await this.#deps.headroom.claim(contentLength(req));
      const source = await this.#receive(req, res);
      await this.#verify(source);
      this.#signal.throwIfAborted();
      await this.#register(source);
      return source;
    } catch (error) {
      this.#abort.abort(error);
      await this.#cleanUp(error instanceof Problem ? error.code : 'internal_error');
      throw error;
    } finally {
      this.#claim?.release();
      endWatch();
    }
  }

  async #receive(req: Request, res: Response): Promise<StoredSource> {
    await readMultipart(req, res, {
      storage: this.#storage,
      maxBytes: this.#ticket.maxBytes,
      signal: this.#signal,
    });
    const source = await this.#storage.settled();
    if (source === null) throw fileMissing();
    if (source.bytes === 0) throw fileEmpty();
    return source;
  }

  async #verify({ bytes }: StoredSource): Promise<void> {
    const { objects } = this.#deps;
    const info = await objects.head(this.#ticket.sourceKey).catch((error: unknown) => {
      throw storageFailed(error);
    });
    if (info?.bytes !== bytes) {
      throw storageFailed(new Error(`The object store holds ${info?.bytes ?? 'none'} of ${bytes} bytes`));
    }
  }

  /**
   * Resolves once the control plane has registered the file. While the outcome of a request is unknown, the engine retries. It
   * also publishes `upload.completed`, so that a complete file is registered even if this engine ends.
   */
  async #register(source: StoredSource): Promise<void> {
    const { controlPlane, limits } = this.#deps;
    const upload = { ...this.#ids, ...source };
    const deadline = performance.now() + limits.registerSeconds * 1000;
    let event: Promise<void> | undefined;
    for (;;) {
      try {
        await controlPlane.completeTransfer(upload);
        return;
      } catch (error) {
        this.#mayBeRegistered = isOutcomeUnknown(error);
        if (!this.#mayBeRegistered) throw error;
        event ??= this.#leaveToEvent(upload);
        if (performance.now() >= deadline || this.#stop.aborted) {
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
  async #leaveToEvent(upload: MessageData<'upload.completed'>): Promise<void> {
    try {
      await this.#deps.bus.publish(createMessage('upload.completed', upload));
      this.#isLeftToEvent = true;
    } catch (error) {
      this.#deps.logger.warn('upload.completed_not_published', { ...this.#ids, error });
    }
  }

  /** Watches the connection and the throughput, renews the lease, and checks for cancellation. Returns a function that stops this. */
  #watch(req: Request): () => void {
    const { leaseSeconds } = this.#ticket;
    const onClose = () => {
      if (!req.readableEnded) this.#abort.abort(clientDisconnected());
    };
    if (req.destroyed) onClose();
    else req.once('close', onClose);
    const stops = [
      this.#watchThroughput(req),
      repeat(leaseSeconds / 4, () => this.#renewLease()),
      repeat(Math.min(CHECK_SECONDS, leaseSeconds / 4), () => this.#checkCurrent()),
    ];
    return () => {
      req.off('close', onClose);
      for (const stop of stops) stop();
    };
  }

  #watchThroughput(req: Request): () => void {
    const limit = new ThroughputLimit(this.#deps.limits);
    // Bytes that arrived together with the headers count as received now.
    let seen = req.socket.bytesRead - req.readableLength;
    return repeat(THROUGHPUT_SECONDS, async () => {
      if (req.readableEnded) return;
      const bytes = req.socket.bytesRead - seen;
      seen += bytes;
      const verdict = limit.observe({ seconds: THROUGHPUT_SECONDS, bytes, backpressure: req.isPaused() });
      if (verdict === 'idle') this.#abort.abort(uploadTimeout('No data arrived for too long.'));
      if (verdict === 'slow') this.#abort.abort(uploadTimeout('The upload was too slow.'));
      if (verdict === 'stuck')
        this.#abort.abort(storageFailed(new Error('The object store accepts no more bytes')));
    });
  }

  async #renewLease(): Promise<void> {
    try {
      await this.#deps.bus.publish(createMessage('upload.progress', this.#ids));
    } catch (error) {
      this.#deps.logger.warn('upload.progress_not_published', { ...this.#ids, error });
    }
  }

  /** The transfer continues while the control plane is unavailable. */
  async #checkCurrent(): Promise<void> {
    const current = await this.#deps.controlPlane.isTransferCurrent(this.#ids).catch(() => true);
    if (!current) this.#abort.abort(uploadCancelled());
  }

  /** Deletes the file and releases the ticket. Never throws: if this fails, the control plane cleans up once the lease has expired. */
  async #cleanUp(reason: string): Promise<void> {
    try {
      const stored = await pTimeout(this.#storage.settled(), {
        milliseconds: ABORT_TIMEOUT_MS,
        message: 'The object store did not abort the upload before the timeout',
      });
      if (stored !== null && !this.#mayBeRegistered) await this.#removeSource();
    } catch (error) {
      this.#deps.logger.error('upload.source_not_removed', { ...this.#ids, error });
    }
    if (!this.#isLeftToEvent) await this.#release(reason);
  }

  async #removeSource(): Promise<void> {
    const { workspaceId, videoId, transferId } = this.#ticket;
    await this.#deps.objects.deletePrefix(transferPrefix(workspaceId, videoId, transferId));
  }

  async #release(reason: string): Promise<void> {
    const { controlPlane, bus, logger } = this.#deps;
    try {
      await controlPlane.releaseTransfer({ ...this.#ids, reason });
    } catch (error) {
      logger.warn('upload.release_failed', { ...this.#ids, error });
      // The queue delivers it in the end, perhaps after the client has given up.
      bus.publish(createMessage('upload.aborted', { ...this.#ids, reason })).catch((cause: unknown) => {
        logger.warn('upload.aborted_not_published', { ...this.#ids, error: cause });
      });
    }
  }
}

/** Whether the control plane may have performed the request. */
function isOutcomeUnknown(error: unknown): boolean {
  return !(error instanceof Problem) || error.status >= 500;
}

/** Null for a chunked body. Node has already checked that it is a number. */
export function contentLength(req: Request): number | null {
  const value = req.get('content-length');
  return value === undefined ? null : Number(value);
}

/** Runs `task` every `seconds`, but skips a run while the previous one is unfinished. Call the returned function to stop. */
function repeat(seconds: number, task: () => Promise<void>): () => void {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    void task().finally(() => {
      running = false;
    });
  }, seconds * 1000);
  return () => clearInterval(timer);
}
