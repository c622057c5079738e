import { setTimeout as pause } from 'node:timers/promises';
import { MIMEType } from 'node:util';
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
import { Pace } from './throughput-limit.ts';
import {
  clientGone,
  clientTooSlow,
  fileEmpty,
  fileMissing,
  malformedMultipart,
  notMultipart,
  notWanted,
  storageFailed,
} from './upload-problems.ts';

/** How often the pace of the client is looked at. */
const PACE_SECONDS = 0.5;

/** How often, at the least, the control plane is asked whether the transfer should go on. */
const WANTED_SECONDS = 5;

/** Pause between two attempts to register a file. */
const REGISTER_PAUSE_MS = 500;

/** How long the engine waits after them for the confirm of `upload.completed`. */
const CONFIRM_LIMIT_MS = 5_000;

/** For the store to let go of a transfer that was broken off. */
const ABORT_LIMIT_MS = 10_000;

export type TransferDeps = {
  controlPlane: ControlPlaneClient;
  objects: ObjectStore;
  bus: MessageBus;
  logger: Logger;
  metrics: EngineMetrics;
  room: StorageHeadroom;
  limits: UploadLimits;
};

/**
 * One file from a client into the object store: from the ticket that was leased for it to its registration by the control
 * plane, or back to a ticket that can be used again.
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
  /** The file may be registered, now or later: it has to stay. */
  #mayBeRegistered = false;
  /** `upload.completed` is in the queue: it decides about the ticket. */
  #isLeftToEvent = false;

  /** `stop` breaks the transfer off; its reason is what the client is told. */
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

  /** Bytes of the file that have come in so far. */
  get bytes(): number {
    return this.#storage.bytes;
  }

  /** Resolves once the file is stored and registered. Otherwise undoes all and throws the Problem to respond with. */
  async run(req: Request, res: Response): Promise<StoredSource> {
    const endWatch = this.#watch(req);
    try {
      this.#claim = await this.#deps.room.claim(contentLength(req));
      const source = await this.#receive(req, res);
      await this.#verify(source);
      this.#signal.throwIfAborted();
      await this.#register(source);
      return source;
    } catch (error) {
      this.#abort.abort(error);
      await this.#undo(error instanceof Problem ? error.code : 'internal_error');
      throw error;
    } finally {
      this.#claim?.release();
      endWatch();
    }
  }

  async #receive(req: Request, res: Response): Promise<StoredSource> {
    requireForm(req.get('content-type') ?? '');
    if (req.get('expect') !== undefined) res.writeContinue();
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
      throw storageFailed(new Error(`The store holds ${info?.bytes ?? 'none'} of ${bytes} bytes`));
    }
  }

  /**
   * Resolves once the control plane has registered the file; only its database can say so. While no response is clear, an
   * `upload.completed` in the queue repeats the request, so that a file that was stored whole is not lost with this engine.
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
        this.#mayBeRegistered = isUnclear(error);
        if (!this.#mayBeRegistered) throw error;
        event ??= this.#leaveToEvent(upload);
        if (performance.now() >= deadline || this.#stop.aborted) {
          await pTimeout(event, { milliseconds: CONFIRM_LIMIT_MS }).catch(() => {});
          throw unavailable(
            'The upload could not be registered. Send it again; a token refused as used means that it was after all.',
            error,
          );
        }
      }
      await pause(REGISTER_PAUSE_MS);
    }
  }

  /** Never rejects. */
  async #leaveToEvent(upload: MessageData<'upload.completed'>): Promise<void> {
    try {
      await this.#deps.bus.publish(createMessage('upload.completed', upload));
      this.#isLeftToEvent = true;
    } catch (error) {
      this.#deps.logger.warn('upload.completed_unsent', { ...this.#ids, error });
    }
  }

  /** Watches over the client, the lease and the wish for this transfer; returns the function that ends it. */
  #watch(req: Request): () => void {
    const { leaseSeconds } = this.#ticket;
    const onClose = () => {
      if (!req.readableEnded) this.#abort.abort(clientGone());
    };
    if (req.destroyed) onClose();
    else req.once('close', onClose);
    const stops = [
      this.#watchPace(req),
      repeat(leaseSeconds / 4, () => this.#renewLease()),
      repeat(Math.min(WANTED_SECONDS, leaseSeconds / 4), () => this.#askWhetherWanted()),
    ];
    return () => {
      req.off('close', onClose);
      for (const stop of stops) stop();
    };
  }

  #watchPace(req: Request): () => void {
    const pace = new Pace(this.#deps.limits);
    // What came with the head waits in the request and counts as coming now.
    let seen = req.socket.bytesRead - req.readableLength;
    return repeat(PACE_SECONDS, async () => {
      if (req.readableEnded) return;
      const bytes = req.socket.bytesRead - seen;
      seen += bytes;
      const verdict = pace.observe({ seconds: PACE_SECONDS, bytes, heldBack: req.isPaused() });
      if (verdict === 'idle') this.#abort.abort(clientTooSlow('No bytes came for too long.'));
      if (verdict === 'slow') this.#abort.abort(clientTooSlow('The file comes in too slowly.'));
      if (verdict === 'stuck') this.#abort.abort(storageFailed(new Error('The store takes no more bytes')));
    });
  }

  async #renewLease(): Promise<void> {
    try {
      await this.#deps.bus.publish(createMessage('upload.progress', { ...this.#ids, bytes: this.bytes }));
    } catch (error) {
      this.#deps.logger.warn('upload.progress_unsent', { ...this.#ids, error });
    }
  }

  /** A control plane that cannot be asked stops nothing: the file is worth more than the answer. */
  async #askWhetherWanted(): Promise<void> {
    const wanted = await this.#deps.controlPlane.transferWanted(this.#ids).catch(() => true);
    if (!wanted) this.#abort.abort(notWanted());
  }

  /** Leaves neither a file nor a lease behind. Never throws: what cannot be undone now, the lease's end settles. */
  async #undo(reason: string): Promise<void> {
    try {
      const kept = await pTimeout(this.#storage.settled(), {
        milliseconds: ABORT_LIMIT_MS,
        message: 'The object store did not abort the upload in time',
      });
      if (kept !== null && !this.#mayBeRegistered) await this.#removeSource();
    } catch (error) {
      this.#deps.logger.error('upload.source_left', { ...this.#ids, error });
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
      // The queue may reach the control plane later than the client wants, but it does.
      bus.publish(createMessage('upload.aborted', { ...this.#ids, reason })).catch((cause: unknown) => {
        logger.warn('upload.lease_left', { ...this.#ids, error: cause });
      });
    }
  }
}

/** Whether the control plane may have done what it was asked for. */
function isUnclear(error: unknown): boolean {
  return !(error instanceof Problem) || error.status >= 500;
}

function requireForm(contentType: string): void {
  let type: MIMEType;
  try {
    type = new MIMEType(contentType);
  } catch {
    throw notMultipart();
  }
  if (type.essence !== 'multipart/form-data') throw notMultipart();
  if (!type.params.get('boundary')) throw malformedMultipart('The Content-Type names no boundary.');
}

/** Null when the body comes in chunks. Node has made sure that it is a number. */
export function contentLength(req: Request): number | null {
  const value = req.get('content-length');
  return value === undefined ? null : Number(value);
}

/** Runs `task` every `seconds`, skipping a run while the last one is not done. Call the returned function to stop. */
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
