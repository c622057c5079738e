import type { IncomingMessage } from 'node:http';
import type { ImportTryFailure } from '@framelane/contracts/internal-api';
import type { UploadLimits } from '../config.ts';
import { pause } from '../pause.ts';
import { repeat } from '../repeat.ts';
import { THROUGHPUT_SECONDS, ThroughputLimit } from '../uploads/throughput-limit.ts';
import { ImportFailure, pauseAfter, toImportFailure } from './import-failure.ts';
import { type ConnectionDeps, openRemote, type RemoteSource } from './remote-connection.ts';
import { type RemoteFacts, readRest, readWhole } from './remote-response.ts';

export type RemoteFileOptions = ConnectionDeps & {
  source: RemoteSource;
  maxBytes: number;
  /** Failed tries of the import so far. */
  tries: number;
  /** Seconds to wait after each failed try. */
  pauseSeconds: readonly number[];
  throughput: Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond' | 'recentSeconds'>;
  /** Called when the reader has taken no bytes for too long. */
  onStuck: () => void;
};

/**
 * A file on a web server, read once from its first byte to its last. When the connection breaks, the file continues at the same
 * byte, if the server says that it is still the same file.
 */
export class RemoteFile {
  readonly #options: RemoteFileOptions;
  #facts: RemoteFacts = { totalBytes: null, validator: null };
  #connection: Connection | undefined;
  bytes = 0;
  /** Failed tries so far. */
  tries: number;
  /** Why the latest failed try failed. */
  failure: ImportTryFailure | null = null;
  /** When the next try begins, in milliseconds since the epoch; null unless it waits. */
  nextTryAtMs: number | null = null;

  constructor(options: RemoteFileOptions) {
    this.#options = options;
    this.tries = options.tries;
  }

  /** The recent throughput of the connection; null while it is too young, and without a connection. */
  get bytesPerSecond(): number | null {
    return this.#connection?.bytesPerSecond ?? null;
  }

  /** The size that the server declares. */
  get totalBytes(): number | null {
    return this.#facts.totalBytes;
  }

  /**
   * The next bytes, or null at the end. Throws an ImportFailure when the file cannot continue, and the reason of the signal after
   * an abort.
   */
  async next(): Promise<Buffer | null> {
    for (;;) {
      try {
        this.#connection ??= await this.#connect();
        const chunk = await this.#connection.next();
        if (chunk === null) {
          this.#requireComplete();
          return null;
        }
        return this.#take(chunk);
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  /** Ends the connection. */
  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #connect(): Promise<Connection> {
    const { source, maxBytes, throughput, onStuck } = this.#options;
    const { validator } = this.#facts;
    // `#recover` allows another connection only if it can continue.
    const isRest = validator !== null;
    const range = isRest ? { range: `bytes=${this.bytes}-`, 'if-range': validator.value } : {};
    const response = await openRemote(source, range, this.#options);
    try {
      if (isRest) this.#facts = { ...this.#facts, totalBytes: readRest(response, this.bytes, this.#facts) };
      else this.#facts = readWhole(response, maxBytes);
    } catch (error) {
      response.destroy();
      throw error;
    }
    return new Connection(response, throughput, onStuck);
  }

  #take(chunk: Buffer): Buffer {
    this.bytes += chunk.byteLength;
    if (this.bytes > this.#options.maxBytes) throw new ImportFailure('import_too_large');
    return chunk;
  }

  #requireComplete(): void {
    if (this.bytes === 0) throw new ImportFailure('import_empty');
    const { totalBytes } = this.#facts;
    if (totalBytes !== null && this.bytes !== totalBytes) {
      throw new ImportFailure('import_incomplete', { retryable: true });
    }
  }

  /** Waits for the next try, or throws the failure if the file cannot continue after the bytes received so far. */
  async #recover(error: unknown): Promise<void> {
    const { signal, pauseSeconds } = this.#options;
    this.close();
    signal.throwIfAborted();
    const failure = toImportFailure(error);
    this.tries += 1;
    this.failure = failure.code;
    const canContinue = this.bytes > 0 && this.#facts.validator !== null && !failure.startsOver;
    const seconds = pauseAfter(failure, this.tries, pauseSeconds);
    if (!canContinue || seconds === null) throw failure;
    this.nextTryAtMs = Date.now() + seconds * 1000;
    await pause(seconds * 1000, signal);
    this.nextTryAtMs = null;
  }
}

/** Reads the body of a response. */
class Connection {
  readonly #response: IncomingMessage;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #endWatch: () => void;
  readonly #limit: ThroughputLimit;
  /** Bytes since the last check of the throughput. */
  #seen = 0;
  #isWaiting = false;

  constructor(response: IncomingMessage, limits: RemoteFileOptions['throughput'], onStuck: () => void) {
    this.#response = response;
    this.#chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#limit = new ThroughputLimit(limits);
    this.#endWatch = repeat(THROUGHPUT_SECONDS, async () => {
      const bytes = this.#seen;
      this.#seen = 0;
      const backpressure = !this.#isWaiting;
      const verdict = this.#limit.observe({ seconds: THROUGHPUT_SECONDS, bytes, backpressure });
      if (verdict === 'stuck') onStuck();
      else if (verdict !== 'fine') {
        response.destroy(new ImportFailure('import_timed_out', { retryable: verdict === 'idle' }));
      }
    });
  }

  get bytesPerSecond(): number | null {
    return this.#limit.bytesPerSecond;
  }

  /** The next bytes, or null at the end of a complete body. */
  async next(): Promise<Buffer | null> {
    this.#isWaiting = true;
    try {
      const { done, value } = await this.#chunks.next();
      if (!done) {
        this.#seen += value.byteLength;
        return value;
      }
      if (!this.#response.complete) throw new Error('The body is incomplete');
      return null;
    } catch (cause) {
      if (cause instanceof ImportFailure) throw cause;
      throw new ImportFailure('import_incomplete', { retryable: true, cause });
    } finally {
      this.#isWaiting = false;
    }
  }

  close(): void {
    this.#endWatch();
    this.#response.destroy();
  }
}
