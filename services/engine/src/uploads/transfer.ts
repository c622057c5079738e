import type { RedeemTicketResponse } from '@framelane/contracts/internal-api';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { transferPrefix } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import type { Tracing } from '@framelane/service-kit/tracing';
import type { Request, Response } from 'express';
import pTimeout from 'p-timeout';
import type { UploadLimits } from '../config.ts';
import type { ControlPlaneClient } from '../control-plane-client.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { TransferLease } from './lease.ts';
import { MulterStorage, type StoredSource } from './multer-storage.ts';
import { readMultipart } from './multipart.ts';
import { Registration, verifyStored } from './registration.ts';
import type { HeadroomClaim, StorageHeadroom } from './storage-headroom.ts';
import { ThroughputLimit } from './throughput-limit.ts';
import {
  clientDisconnected,
  fileEmpty,
  fileMissing,
  uploadCancelled,
  uploadTimeout,
} from './upload-problems.ts';
import type { UploadSlots, YieldingUpload } from './upload-slots.ts';
import { watchThroughput } from './watch-throughput.ts';

/** How long the engine waits until the object store has aborted a transfer. */
const ABORT_TIMEOUT_MS = 10_000;

/** What any transfer of a file into the object store needs. */
export type TransferDeps = {
  controlPlane: ControlPlaneClient;
  objects: ObjectStore;
  bus: MessageBus;
  logger: Logger;
  tracing?: Tracing | undefined;
  metrics: EngineMetrics;
  headroom: StorageHeadroom;
  limits: UploadLimits;
};

/** Uploads also share a number of slots. */
export type UploadDeps = TransferDeps & { slots: UploadSlots };

/**
 * A transfer by form: streams the file into the object store and registers it with the control plane, or releases the ticket for
 * the next transfer.
 */
export class Transfer implements YieldingUpload {
  readonly #deps: UploadDeps;
  readonly #ticket: RedeemTicketResponse;
  readonly #ids: { videoId: string; transferId: string };
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #storage: MulterStorage;
  readonly #stop: AbortSignal;
  readonly #registration: Registration;
  readonly #lease: TransferLease;
  readonly #throughput: ThroughputLimit;
  #claim: HeadroomClaim | undefined;

  /** `stop` aborts the transfer. Its reason is the Problem to respond with. */
  constructor(deps: UploadDeps, ticket: RedeemTicketResponse, stop: AbortSignal) {
    this.#deps = deps;
    this.#ticket = ticket;
    this.#ids = { videoId: ticket.videoId, transferId: ticket.transferId };
    this.#stop = stop;
    this.#registration = new Registration(deps);
    this.#throughput = new ThroughputLimit(deps.limits);
    this.#lease = new TransferLease(deps, this.#ids, ticket.leaseSeconds);
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

  get workspaceId(): string {
    return this.#ticket.workspaceId;
  }

  get bytesPerSecond(): number | null {
    return this.#throughput.bytesPerSecond;
  }

  /** Ends the transfer, because another upload needs its slot. */
  giveWay(): void {
    const { contendedBytesPerSecond: rate } = this.#deps.limits;
    this.#abort.abort(
      uploadTimeout(`The upload was slower than ${rate} bytes a second while other uploads waited.`),
    );
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
      await verifyStored(this.#deps.objects, this.#ticket.sourceKey, source.bytes);
      this.#signal.throwIfAborted();
      await this.#registration.register(
        { ...this.#ids, ...source },
        this.#deps.limits.registerSeconds,
        this.#stop,
      );
      return source;
    } catch (error) {
      this.#abort.abort(error);
      await this.#cleanUp();
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

  /** Watches the connection and the throughput, renews the lease, and checks for cancellation. Returns a function that stops this. */
  #watch(req: Request): () => void {
    const onClose = () => {
      if (!req.readableEnded) this.#abort.abort(clientDisconnected());
    };
    if (req.destroyed) onClose();
    else req.once('close', onClose);
    const stops = [
      watchThroughput(req, this.#throughput, {
        backpressure: () => req.isPaused(),
        onProblem: (problem) => this.#abort.abort(problem),
      }),
      this.#lease.startRenewing(() => this.#abort.abort(uploadCancelled())),
    ];
    return () => {
      req.off('close', onClose);
      for (const stop of stops) stop();
    };
  }

  /** Deletes the file and releases the ticket. Never throws: if this fails, the control plane cleans up once the lease has expired. */
  async #cleanUp(): Promise<void> {
    try {
      const stored = await pTimeout(this.#storage.settled(), {
        milliseconds: ABORT_TIMEOUT_MS,
        message: 'The object store did not abort the upload before the timeout',
      });
      if (stored !== null && !this.#registration.mayBeRegistered) await this.#removeSource();
    } catch (error) {
      this.#deps.logger.error('upload.source_not_removed', { ...this.#ids, error });
    }
    if (!this.#registration.isLeftToEvent) await this.#lease.release();
  }

  async #removeSource(): Promise<void> {
    const { workspaceId, videoId, transferId } = this.#ticket;
    await this.#deps.objects.deletePrefix(transferPrefix(workspaceId, videoId, transferId));
  }
}

/** Null for a chunked body. Node has already checked that it is a number. */
export function contentLength(req: Request): number | null {
  const value = req.get('content-length');
  return value === undefined ? null : Number(value);
}
