import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** The size of a part. A stream needs memory for up to five parts: four in transfer and one being filled. */
export const PART_BYTES = 8 * 1024 * 1024;
/** The largest stream: S3 accepts 10,000 parts. */
export const LARGEST_STREAM_BYTES = 10_000 * PART_BYTES;

/** Part n is sent once all parts up to n - WINDOW are confirmed. */
const WINDOW = 4;
/**
 * Shared buffers of a store: all that its streams hold in addition to one each. This limits their memory and their
 * connections.
 */
const MAX_SHARED_BUFFERS = 32;

/** How long parts in transfer may take to settle after the upload has failed. */
const SETTLE_MS = 5_000;

/** Buffers kept for later streams when there are no streams. */
const MIN_IDLE_BUFFERS = 10;

/**
 * A pool of buffers, one part each, for all streams of a store. Reusing them saves a third of an upload's time, which new
 * buffers would spend on garbage collection. Every stream may always have one buffer. Further buffers, which it fills
 * while parts are in transfer, come from a shared budget. So parts that hang can slow other streams down, but never stop
 * them.
 */
export class SharedBuffers {
  /** The size of a buffer. */
  readonly partBytes: number;
  readonly #idle: Buffer[] = [];
  /** Callbacks of streams that wait for a buffer. */
  readonly #waiting = new Set<() => void>();
  #shared = 0;
  #held = 0;

  constructor(partBytes = PART_BYTES) {
    this.partBytes = partBytes;
  }

  /**
   * A buffer for a stream that holds `held` others. When no shared buffer is available, returns undefined and later calls
   * `retry` once.
   */
  take(held: number, retry: () => void): Buffer | undefined {
    if (held > 0 && this.#shared >= MAX_SHARED_BUFFERS) {
      this.#waiting.add(retry);
      return undefined;
    }
    if (held > 0) this.#shared += 1;
    this.#held += 1;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.partBytes);
  }

  /** Takes a buffer back from a stream that holds `held`, this one included. `reusable` if no request reads from it any more. */
  giveBack(buffer: Buffer, held: number, reusable: boolean): void {
    this.#held -= 1;
    if (reusable) this.#idle.push(buffer);
    // Parallel streams return their buffers at about the same time and soon take new ones.
    const kept = Math.max(MIN_IDLE_BUFFERS, this.#held);
    if (this.#idle.length > kept) this.#idle.length = kept;
    if (held <= 1) return;
    this.#shared -= 1;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const retry of waiting) retry();
  }
}

/** A part being filled. */
export type Part = { buffer: Buffer; filled: number };

/**
 * Sends the parts of one multipart upload, four at a time. A part waits for the parts far before it, so a killed process leaves at most
 * three parts after a gap.
 */
export class S3Parts {
  readonly #client: S3Client;
  readonly #place: { Bucket: string; Key: string };
  readonly #shared: SharedBuffers;
  readonly #onFailure: (error: Error) => void;
  /** The buffer being filled and those of parts in transfer. */
  readonly #held = new Set<Buffer>();
  /** Parts in transfer, by number; they never reject. */
  readonly #running = new Map<number, Promise<void>>();
  readonly #confirmed: CompletedPart[] = [];
  /** Resolves when a part settles, a buffer becomes available or the upload fails. */
  #event = Promise.withResolvers<void>();
  readonly #wake = () => {
    this.#event.resolve();
    this.#event = Promise.withResolvers();
  };
  #failure: Error | undefined;
  readonly #abandoned = new AbortController();

  /** `confirmed` are the parts that an earlier process has sent. `onFailure` is called once, with the first failure. */
  constructor(options: {
    client: S3Client;
    place: { Bucket: string; Key: string };
    shared: SharedBuffers;
    onFailure?: (error: Error) => void;
    confirmed?: readonly CompletedPart[];
  }) {
    this.#client = options.client;
    this.#place = options.place;
    this.#shared = options.shared;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#confirmed.push(...(options.confirmed ?? []));
  }

  /** Makes every method that waits throw. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#onFailure(error);
    this.#wake();
  }

  /** An empty part. Waits for a buffer. */
  async next(): Promise<Part> {
    for (;;) {
      this.#assertNotFailed();
      const buffer = this.#shared.take(this.#held.size, this.#wake);
      if (buffer !== undefined) {
        this.#held.add(buffer);
        return { buffer, filled: 0 };
      }
      await this.#event.promise;
    }
  }

  /** Returns the buffer of a part that is stored or not needed. `reusable` if no request reads from it any more. */
  giveBack({ buffer }: Part, { reusable }: { reusable: boolean }): void {
    this.#shared.giveBack(buffer, this.#held.size, reusable);
    this.#held.delete(buffer);
  }

  /** Begins to send a part as part `number` of the multipart upload, once the window allows it. */
  async send(part: Part, number: number, uploadId: string): Promise<void> {
    while (number >= this.#firstUnconfirmed(number) + WINDOW) {
      this.#assertNotFailed();
      await this.#event.promise;
    }
    this.#assertNotFailed();
    const Body = part.buffer.subarray(0, part.filled);
    const sending = this.#client
      .send(new UploadPartCommand({ ...this.#place, UploadId: uploadId, PartNumber: number, Body }), {
        abortSignal: this.#abandoned.signal,
      })
      .then(({ ETag }) => {
        assertConfirmed(ETag, this.#place.Key);
        this.#confirmed.push({ ETag, PartNumber: number });
        this.giveBack(part, { reusable: true });
      })
      .catch((error: Error) => {
        this.giveBack(part, { reusable: false });
        this.fail(error);
      })
      .finally(() => {
        this.#running.delete(number);
        this.#wake();
      });
    this.#running.set(number, sending);
  }

  /** Resolves when all parts are confirmed. */
  async confirmed(): Promise<void> {
    await Promise.all(this.#running.values());
    this.#assertNotFailed();
  }

  /** Creates the object from the confirmed parts. `condition` are further fields of the request. */
  async complete(
    uploadId: string,
    condition: { IfNoneMatch?: '*' } = {},
    confirmed: readonly CompletedPart[] = this.#confirmed,
  ): Promise<void> {
    const Parts = confirmed
      .map(({ ETag, PartNumber }) => ({ ETag, PartNumber }))
      .sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    const { ETag } = await this.#client.send(
      new CompleteMultipartUploadCommand({
        ...this.#place,
        ...condition,
        UploadId: uploadId,
        MultipartUpload: { Parts },
      }),
    );
    assertConfirmed(ETag, this.#place.Key);
  }

  /**
   * Ends the parts in transfer and returns all buffers. A part that the server stores after its upload was removed would stay
   * forever, so the parts in transfer may settle for some seconds first. Never rejects.
   */
  async end(): Promise<void> {
    const abandon = setTimeout(() => this.#abandoned.abort(), SETTLE_MS);
    await Promise.all(this.#running.values());
    clearTimeout(abandon);
    for (const buffer of this.#held) this.giveBack({ buffer, filled: 0 }, { reusable: false });
  }

  #firstUnconfirmed(next: number): number {
    return Math.min(next, ...this.#running.keys());
  }

  #assertNotFailed(): void {
    if (this.#failure) throw this.#failure;
  }
}

/** Throws when a response lacks the entity tag: a server may respond with 200 and report a failure in the body. */
export function assertConfirmed(etag: string | undefined, key: string): void {
  if (etag === undefined) throw new Error(`The server did not confirm that ${key} is stored`);
}
