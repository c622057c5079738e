import { createHash, type Hash } from 'node:crypto';
import type { OpenResumableResponse } from '@framelane/contracts/internal-api';
import { NotResumableError, type ResumableWriter } from '@framelane/object-store/object-store';
import { Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import { TransferLease } from '../uploads/lease.ts';
import { Registration, verifyStored } from '../uploads/registration.ts';
import type { HeadroomClaim } from '../uploads/storage-headroom.ts';
import { ThroughputLimit } from '../uploads/throughput-limit.ts';
import type { UploadDeps } from '../uploads/transfer.ts';
import {
  bodyTooLong,
  checksumMismatch,
  offsetMismatch,
  storageFailed,
  uploadTakenOver,
} from '../uploads/upload-problems.ts';
import type { YieldingUpload } from '../uploads/upload-slots.ts';
import { codeOf } from '../uploads/uploads.ts';
import { watchThroughput } from '../uploads/watch-throughput.ts';
import type { Checksum } from './tus-headers.ts';

export type OpenedUpload = Extract<OpenResumableResponse, { status: 'open' }>;

/**
 * While checkpoints declare later bytes untrusted, a killed engine loses the bytes since its last checkpoint: at most this much and
 * one chunk.
 */
const MAX_UNSAVED_BYTES = 32 * 1024 * 1024;

/** Between two requests, an upload counts as slow from then on: longer than the time between two parts of a fast client. */
const IDLE_MS = 2000;

/**
 * A resumable upload while this engine has it open: it holds the lease of the ticket and the end of the file in memory. Its
 * requests run one after another. A new one ends the body that is being received, because its client may have disconnected
 * unnoticed.
 */
export class UploadSession implements YieldingUpload {
  readonly #deps: UploadDeps;
  readonly #opened: OpenedUpload;
  readonly #writer: ResumableWriter;
  readonly #claim: HeadroomClaim;
  readonly #onEnd: () => void;
  readonly #ids: { videoId: string; transferId: string; epoch: number };
  readonly #lease: TransferLease;
  readonly #registration: Registration;
  readonly #stopLease: () => void;
  readonly #startedAt = performance.now();
  readonly #stop = new AbortController();
  /** SHA-256 of the file. Null if this engine has not received the beginning of the file. */
  readonly #hash: Hash | null;
  #expiresAt: string;
  /** The request whose body is being received, and those that wait for it to end. */
  readonly #bodies = new Set<Request>();
  #savedOffset: number;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  /** When the last request ended, by `performance.now`; null during a request. */
  #idleSince: number | null = null;
  /** Of the body that is being received, or of the last one. */
  #throughput: ThroughputLimit | undefined;
  #isLost = false;
  #isEnded = false;

  /**
   * Continues the upload at the offset that its checkpoint and the object store determine. `onEnd` is called once. Releases the
   * ticket if it fails.
   */
  static async open(
    deps: UploadDeps,
    transferId: string,
    opened: OpenedUpload,
    onEnd: () => void,
  ): Promise<UploadSession> {
    const { objects, controlPlane, headroom } = deps;
    const { videoId, epoch, sourceKey, length, leaseSeconds } = opened;
    const ids = { videoId, transferId, epoch };
    let writer: ResumableWriter | undefined;
    try {
      let { checkpoint } = opened;
      if (checkpoint === null) {
        checkpoint = await objects.beginResumable(sourceKey, 'application/octet-stream');
        await controlPlane.saveResumable({ ...ids, checkpoint }).catch(throwTakenOver);
      }
      writer = await objects.resume(sourceKey, checkpoint, length);
      const claim = await headroom.claim(length - writer.offset);
      return new UploadSession(deps, transferId, opened, { writer, claim }, onEnd);
    } catch (error) {
      await writer?.close();
      await new TransferLease(deps, ids, leaseSeconds).release();
      throw error;
    }
  }

  private constructor(
    deps: UploadDeps,
    transferId: string,
    opened: OpenedUpload,
    { writer, claim }: { writer: ResumableWriter; claim: HeadroomClaim },
    onEnd: () => void,
  ) {
    this.#deps = deps;
    this.#opened = opened;
    this.#writer = writer;
    this.#claim = claim;
    this.#onEnd = onEnd;
    this.#hash = writer.offset === 0 ? createHash('sha256') : null;
    this.#expiresAt = opened.expiresAt;
    this.#savedOffset = writer.offset;
    this.#ids = { videoId: opened.videoId, transferId, epoch: opened.epoch };
    this.#lease = new TransferLease(deps, this.#ids, opened.leaseSeconds);
    this.#registration = new Registration(deps);
    let reported = writer.offset;
    this.#stopLease = this.#lease.startRenewing(
      () => this.#lose(),
      () => {
        const hasProgressed = this.offset > reported;
        reported = this.offset;
        return hasProgressed;
      },
    );
    deps.metrics.uploadBegan();
    deps.logger.info('upload.opened', { ...this.#ids, offset: writer.offset, length: opened.length });
  }

  get epoch(): number {
    return this.#ids.epoch;
  }

  /** The video, and the trace in which it was created. */
  get origin(): Pick<OpenedUpload, 'videoId' | 'traceparent'> {
    return this.#opened;
  }

  get workspaceId(): string {
    return this.#opened.workspaceId;
  }

  get bytesPerSecond(): number | null {
    const isIdle = this.#idleSince !== null && performance.now() - this.#idleSince >= IDLE_MS;
    return isIdle ? 0 : (this.#throughput?.bytesPerSecond ?? null);
  }

  /** Pauses the upload, because another one needs its slot. */
  giveWay(): void {
    void this.pause();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Bytes of the file that have arrived. */
  get offset(): number {
    return this.#writer.offset;
  }

  /** When the ticket expires, ISO 8601. */
  get expiresAt(): string {
    return this.#expiresAt;
  }

  /**
   * Receives a part of the file. When the connection breaks, keeps what has arrived and resolves. An incomplete part with a checksum
   * does not match it, so it fails. Throws the Problem to respond with. A part that does not belong at the offset changes nothing;
   * after any other failure the session ends, and the next request continues at the last checkpoint.
   */
  async receive(req: Request, start: number, checksum: Checksum | null): Promise<void> {
    const running = this.#run(async () => {
      // A newer request has ended this one, or the client has disconnected.
      if (req.destroyed) return undefined;
      if (start !== this.offset) return offsetMismatch(this.offset);
      if (Number(req.get('content-length') ?? 0) > this.#opened.length - start) return bodyTooLong();
      await this.#store(req, checksum);
      return undefined;
    });
    this.#bodies.add(req);
    const refusal = await running.finally(() => this.#bodies.delete(req));
    if (refusal) throw refusal;
  }

  /** Ends the body that is being received. Completes the upload if all bytes have arrived. */
  async settle(): Promise<void> {
    await this.#run(async () => undefined);
  }

  /** Saves what has arrived and releases the ticket, so that another engine can continue. Never throws. */
  async pause(): Promise<void> {
    this.#stop.abort();
    this.#endBodies();
    await this.#enqueue(() => this.#end());
  }

  /** Runs a request after those before it. */
  async #run(work: () => Promise<Problem | undefined>): Promise<Problem | undefined> {
    this.#endBodies();
    return this.#enqueue(async () => {
      clearTimeout(this.#idle);
      this.#idleSince = null;
      try {
        this.#assertHeld();
        const refusal = await work();
        if (this.offset === this.#opened.length) await this.#complete();
        else this.#waitForNext();
        return refusal;
      } catch (error) {
        await this.#end(error);
        throw error;
      }
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const running = this.#last.then(work);
    this.#last = running.catch(() => {});
    return running;
  }

  /** Another engine has the upload, or its ticket is no longer valid. */
  #lose(): void {
    this.#isLost = true;
    this.#endBodies();
    void this.#enqueue(() => this.#end(uploadTakenOver()));
  }

  #endBodies(): void {
    for (const req of this.#bodies) req.destroy();
  }

  #assertHeld(): void {
    if (this.#isLost || this.#isEnded) throw uploadTakenOver();
  }

  async #store(req: Request, checksum: Checksum | null): Promise<void> {
    const wasUntrusted = this.#writer.laterBytesUntrusted;
    const digest = checksum && createHash(checksum.algorithm);
    if (digest !== null && !wasUntrusted) {
      this.#writer.laterBytesUntrusted = true;
      await this.#save();
    }
    await this.#take(req, digest);
    this.#assertHeld();
    if (checksum !== null && digest !== null) {
      if (!digest.digest().equals(checksum.digest)) throw checksumMismatch();
      this.#writer.laterBytesUntrusted = wasUntrusted;
    }
    await this.#save();
  }

  /** Ends the session because of `error`, or pauses the upload without one. Never throws. */
  async #end(error?: unknown): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { metrics, logger } = this.#deps;
    if (error === undefined) metrics.uploadPaused();
    else metrics.uploadBroken(codeOf(error));
    const why = error instanceof Problem ? { code: error.code, cause: error.cause } : { error };
    if (error === undefined) logger.info('upload.paused', this.#facts());
    else logger.warn('upload.broken', { ...this.#facts(), ...why });
    await this.#close();
    if (!this.#registration.isLeftToEvent) await this.#lease.release();
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    this.#stopLease();
    clearTimeout(this.#idle);
    this.#claim.release();
    this.#onEnd();
    await this.#writer.close();
  }

  /** Reads the body until it ends, the connection breaks or the client is too slow. */
  async #take(req: Request, digest: Hash | null): Promise<void> {
    const { limits, metrics } = this.#deps;
    let isStoring = false;
    this.#throughput = new ThroughputLimit(limits);
    const stopWatch = watchThroughput(req, this.#throughput, {
      backpressure: () => isStoring,
      onProblem: () => req.destroy(),
    });
    const chunks = req[Symbol.asyncIterator]();
    try {
      for (;;) {
        // A broken connection is not an error: the client continues later.
        const { value, done } = await chunks.next().catch(() => ({ value: undefined, done: true as const }));
        if (done || this.#isLost) return;
        const chunk: Buffer = value;
        if (chunk.byteLength > this.#opened.length - this.offset) throw bodyTooLong();
        isStoring = true;
        await this.#claim.take(chunk.byteLength);
        await this.#writer.write(chunk).catch((error: unknown) => {
          throw storageFailed(error);
        });
        metrics.uploadBytes(chunk.byteLength);
        this.#hash?.update(chunk);
        digest?.update(chunk);
        const unsaved = this.offset - this.#savedOffset;
        if (this.#writer.laterBytesUntrusted && digest === null && unsaved >= MAX_UNSAVED_BYTES)
          await this.#save();
        isStoring = false;
      }
    } finally {
      stopWatch();
    }
  }

  async #save(): Promise<void> {
    const checkpoint = await this.#writer.settle().catch((error: unknown) => {
      throw storageFailed(error);
    });
    const { controlPlane } = this.#deps;
    const saved = await controlPlane.saveResumable({ ...this.#ids, checkpoint }).catch(throwTakenOver);
    this.#expiresAt = saved.expiresAt;
    this.#savedOffset = checkpoint.durableBytes;
    await this.#writer.prune();
  }

  async #complete(): Promise<void> {
    const { objects, limits, metrics, logger } = this.#deps;
    // Fails if this engine has lost the upload: then it must not complete it.
    await this.#save();
    await this.#writer.complete().catch((error: unknown) => {
      throw error instanceof NotResumableError ? error : storageFailed(error);
    });
    const bytes = this.#opened.length;
    await verifyStored(objects, this.#opened.sourceKey, bytes);
    const sha256 = this.#hash?.digest('hex') ?? null;
    await this.#registration.register(
      { ...this.#ids, bytes, sha256 },
      limits.registerSeconds,
      this.#stop.signal,
    );
    this.#isEnded = true;
    metrics.uploadReceived((performance.now() - this.#startedAt) / 1000);
    logger.info('upload.received', this.#facts());
    await this.#close();
  }

  #waitForNext(): void {
    clearTimeout(this.#idle);
    this.#idleSince = performance.now();
    this.#idle = setTimeout(() => void this.pause(), this.#deps.limits.pauseSeconds * 1000);
  }

  #facts(): object {
    const seconds = Math.round(performance.now() - this.#startedAt) / 1000;
    return { ...this.#ids, bytes: this.offset, length: this.#opened.length, seconds };
  }
}

function throwTakenOver(error: unknown): never {
  throw error instanceof Problem && error.code === 'transfer_lost' ? uploadTakenOver(error) : error;
}
