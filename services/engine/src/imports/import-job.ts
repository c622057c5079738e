import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AddressGuard } from '@framelane/address-guard/address-guard';
import { type ClaimedImport, RENEWALS_PER_LEASE } from '@framelane/contracts/internal-api';
import { transferPrefix } from '@framelane/object-store/object-keys';
import { activeSpan } from '@framelane/service-kit/tracing';
import type { ImportSettings } from '../config.ts';
import { repeat } from '../repeat.ts';
import type { StoredSource } from '../uploads/multer-storage.ts';
import { Registration, verifyStored } from '../uploads/registration.ts';
import type { SlotHolder } from '../uploads/slow-holder.ts';
import type { HeadroomClaim } from '../uploads/storage-headroom.ts';
import type { TransferDeps } from '../uploads/transfer.ts';
import { ImportFailure, pauseAfter } from './import-failure.ts';
import { RemoteFile } from './remote-file.ts';

/** The longest interval at which the engine reports the progress, which also renews the lease. */
const PROGRESS_SECONDS = 2;

/** The longest delay of Node's timers. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export type ImportDeps = TransferDeps & { guard: AddressGuard; settings: ImportSettings };

/** The engine must not report anything about this transfer any more. */
class TransferEndedError extends Error {
  override name = 'TransferEndedError';
}

/** One transfer of an import: fetches the file, stores it and registers it, or ends the try. */
export class ImportJob implements SlotHolder {
  readonly #deps: ImportDeps;
  readonly #claimed: ClaimedImport;
  readonly #ids: { videoId: string; transferId: string };
  readonly #stop: AbortSignal;
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #file: RemoteFile;
  readonly #registration: Registration;

  /** `stop` hands the import back. */
  constructor(deps: ImportDeps, claimed: ClaimedImport, stop: AbortSignal) {
    this.#deps = deps;
    this.#claimed = claimed;
    this.#ids = { videoId: claimed.videoId, transferId: claimed.transferId };
    this.#stop = stop;
    this.#signal = AbortSignal.any([stop, this.#abort.signal]);
    this.#registration = new Registration(deps);
    this.#file = new RemoteFile({
      guard: deps.guard,
      limits: deps.settings,
      signal: this.#signal,
      throughput: deps.limits,
      source: claimed,
      maxBytes: claimed.maxBytes,
      tries: claimed.tries,
      pauseSeconds: deps.settings.pauseSeconds,
      onStuck: () => this.#abort.abort(storageFailure(new Error('The object store accepts no more bytes'))),
    });
  }

  get workspaceId(): string {
    return this.#claimed.workspaceId;
  }

  get bytesPerSecond(): number | null {
    return this.#file.bytesPerSecond;
  }

  /** Hands the import back, because an import of another workspace needs the slot. It does not count as a failed try. */
  giveWay(): void {
    this.#deps.logger.info('import.gives_way', { ...this.#ids, bytes: this.#file.bytes });
    this.#abort.abort(new Error('Another workspace needs the slot'));
  }

  /** Resolves when the transfer has ended. Never rejects. */
  async run(): Promise<void> {
    const { logger, metrics } = this.#deps;
    const startedAt = performance.now();
    const facts = () => ({
      ...this.#ids,
      bytes: this.#file.bytes,
      seconds: Math.round(performance.now() - startedAt) / 1000,
    });
    const endWatch = this.#watch();
    metrics.importBegan();
    try {
      const source = await this.#store();
      await verifyStored(this.#deps.objects, this.#claimed.sourceKey, source.bytes);
      this.#signal.throwIfAborted();
      await this.#register(source);
      metrics.importEnded('received', '');
      logger.info('import.received', facts());
    } catch (error) {
      const failure = this.#failureOf(error);
      metrics.importEnded(failure === null ? 'abandoned' : 'failed', failure?.code ?? '');
      // The error of a connection names addresses, which are for the operator only.
      if (failure) activeSpan()?.fail(failure.code);
      logger.warn('import.broken', { ...facts(), code: failure?.code, cause: failure?.cause ?? error });
      await this.#removeSource();
      await this.#endTry(error, failure);
    } finally {
      endWatch();
      this.#file.close();
    }
  }

  async #store(): Promise<StoredSource> {
    const { objects, headroom, metrics } = this.#deps;
    const file = this.#file;
    const hash = createHash('sha256');
    let readFailure: unknown;
    let claim: HeadroomClaim | undefined;
    async function* read(): AsyncGenerator<Buffer> {
      try {
        for (let chunk = await file.next(); chunk !== null; chunk = await file.next()) {
          // Claims before the first byte is stored: the server has declared the size by now.
          claim ??= await headroom.claim(file.totalBytes);
          await claim.take(chunk.byteLength);
          metrics.importBytes(chunk.byteLength);
          hash.update(chunk);
          yield chunk;
        }
      } catch (error) {
        readFailure ??= error;
        throw error;
      }
    }
    try {
      await objects.putStream(this.#claimed.sourceKey, Readable.from(read()), {
        contentType: 'application/octet-stream',
        signal: this.#signal,
        ifAbsent: true,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      throw readFailure instanceof ImportFailure ? readFailure : storageFailure(readFailure ?? error);
    } finally {
      claim?.release();
    }
    return { bytes: file.bytes, sha256: hash.digest('hex') };
  }

  /** Throws a TransferEndedError on failure: the file may be registered, or the video no longer accepts it. */
  async #register(source: StoredSource): Promise<void> {
    const { registerSeconds } = this.#deps.limits;
    try {
      await this.#registration.register({ ...this.#ids, ...source }, registerSeconds, this.#stop);
    } catch (cause) {
      throw new TransferEndedError('The file was not registered', { cause });
    }
  }

  /** Reports the progress, and ends the transfer at its deadline or when it is not current. Returns a function that stops this. */
  #watch(): () => void {
    const { leaseSeconds, secondsLeft } = this.#claimed;
    const atDeadline = () => this.#abort.abort(new ImportFailure('import_timed_out'));
    const deadline = setTimeout(atDeadline, Math.min(secondsLeft * 1000, LONGEST_TIMEOUT_MS));
    const stop = repeat(Math.min(PROGRESS_SECONDS, leaseSeconds / RENEWALS_PER_LEASE), async () => {
      const { bytes, totalBytes, tries, failure, nextTryAtMs } = this.#file;
      const nextTryInSeconds = nextTryAtMs === null ? null : Math.max(0, nextTryAtMs - Date.now()) / 1000;
      const progress = { ...this.#ids, bytes, totalBytes, tries, failure, nextTryInSeconds };
      // The transfer continues while the control plane is unavailable.
      const current = await this.#deps.controlPlane.importProgress(progress).catch(() => true);
      if (!current) this.#abort.abort(new TransferEndedError('The transfer is not current'));
    });
    return () => {
      clearTimeout(deadline);
      stop();
    };
  }

  /** The failure of the try; null if the import did not fail: the engine stops, or the transfer is not current. */
  #failureOf(error: unknown): ImportFailure | null {
    if (error instanceof ImportFailure) return error;
    if (error instanceof TransferEndedError) return null;
    if (this.#signal.aborted) {
      const { reason } = this.#signal;
      return reason instanceof ImportFailure ? reason : null;
    }
    return storageFailure(error);
  }

  async #removeSource(): Promise<void> {
    if (this.#registration.mayBeRegistered) return;
    const { workspaceId, videoId, transferId } = this.#claimed;
    try {
      await this.#deps.objects.deletePrefix(transferPrefix(workspaceId, videoId, transferId));
    } catch (error) {
      this.#deps.logger.error('import.source_not_removed', { ...this.#ids, error });
    }
  }

  /** Reports the end of the try. Never throws: without the report, the import is due again when its lease has expired. */
  async #endTry(error: unknown, failure: ImportFailure | null): Promise<void> {
    if (this.#registration.mayBeRegistered || error instanceof TransferEndedError) return;
    const { controlPlane, settings, logger } = this.#deps;
    const isEngineFault = failure?.code === 'storage_failed' || failure?.code === 'internal_error';
    const tries = this.#file.tries + (isEngineFault ? 1 : 0);
    // A change of the file makes an import start over only once. For other failures, only the number of tries counts.
    const hasChanged = failure?.code === 'import_changed';
    const mayRetry = failure !== null && !(hasChanged && this.#claimed.startedOver);
    const retryInSeconds =
      failure === null ? 0 : mayRetry ? pauseAfter(failure, tries, settings.pauseSeconds) : null;
    const startedOver = this.#claimed.startedOver || hasChanged;
    try {
      await controlPlane.endImportTry({
        ...this.#ids,
        tries,
        failure: failure?.code ?? null,
        retryInSeconds,
        startedOver,
      });
    } catch (cause) {
      logger.warn('import.end_not_reported', { ...this.#ids, error: cause });
    }
  }
}

function storageFailure(cause: unknown): ImportFailure {
  return new ImportFailure('storage_failed', { retryable: true, cause });
}
