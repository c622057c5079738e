import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type ByteRange, ObjectNotFoundError, type ObjectStore } from '@framelane/object-store/object-store';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import { LRUCache } from 'lru-cache';
import type { Metrics } from '../metrics/metrics.ts';
import { Allotment, AllotmentExhaustedError } from './allotment.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Concurrent reads from the object store. Fewer than it has connections, so that none waits for a connection. */
const CONCURRENT_READS = 32;
/** Memory that all clients together can hold with bytes they have not received. */
const UNSENT_BYTES = 256 * MIB;
/** Above this many unsent bytes, each client gets only small pieces. */
const SCARCE_BYTES = 64 * MIB;
const SMALL_PIECE = 128 * KIB;
/** The largest piece of a file that is not cached. */
const LARGE_PIECE = 1 * MIB;
/** Time that a request waits for memory or for a read. */
const WAIT_MS = 5_000;
/** A file may use this part of the cache. */
const LARGEST_CACHED = 1 / 16;

/** Retries of a read whose connection breaks, and the delay before each. */
const RETRIES = 2;
const RETRY_DELAY_MS = 200;

/** An object. Its key never gets other bytes, so a cached copy is valid as long as the object exists. */
export type ReadableObject = {
  key: string;
  bytes: number;
  /** Whether many clients are likely to read it. */
  shared: boolean;
  /** The error to throw when the object does not exist. */
  missing: (error: ObjectNotFoundError) => Error | Promise<Error>;
};

/**
 * Reads objects for clients of any speed. Each read is completed in memory before a byte is sent, so a client that pauses holds no
 * connection of the object store. Memory for unsent bytes is limited: when it gets scarce, clients get smaller pieces, and beyond
 * the limit requests wait, then fail with 503.
 *
 * Small shared objects are cached, least recently used first out. Concurrent requests for one share a read.
 */
export class StoredReads {
  readonly #objects: Pick<ObjectStore, 'get'>;
  readonly #metrics: Metrics;
  readonly #reads: Allotment;
  readonly #unsent: Allotment;
  readonly #largestCached: number;
  readonly #cache: LRUCache<string, Buffer>;
  readonly #loading = new Map<string, Promise<Buffer>>();

  /** `cacheBytes` limits the cache; 0 switches it off. */
  constructor(deps: {
    objects: Pick<ObjectStore, 'get'>;
    metrics: Metrics;
    cacheBytes: number;
    waitMs?: number;
  }) {
    const { cacheBytes, waitMs = WAIT_MS } = deps;
    this.#objects = deps.objects;
    this.#metrics = deps.metrics;
    this.#reads = new Allotment(CONCURRENT_READS, waitMs);
    this.#unsent = new Allotment(UNSENT_BYTES, waitMs);
    this.#largestCached = cacheBytes * LARGEST_CACHED;
    this.#cache = new LRUCache({
      // Nothing is put into a cache of 0 bytes.
      maxSize: Math.max(1, cacheBytes),
      sizeCalculation: (content) => content.byteLength,
    });
    this.#metrics.observeStoredFiles({
      cached: () => this.#cache.calculatedSize,
      unsent: () => this.#unsent.taken,
    });
  }

  /**
   * A range of an object in pieces, each of one or more buffers. A piece counts as unsent until the first buffer of the next one
   * is requested. Throws what `missing` returns, and Problems with status 503.
   */
  async *read(object: ReadableObject, range: ByteRange): AsyncGenerator<Buffer, void> {
    try {
      for (let start = range.start; start <= range.end; ) {
        const scarce = this.#unsent.taken > SCARCE_BYTES;
        const left = range.end - start + 1;
        const bytes = Math.min(left, scarce ? SMALL_PIECE : this.#isCacheable(object) ? left : LARGE_PIECE);
        const sent = await this.#unsent.take(bytes);
        try {
          const isFirst = start === range.start;
          // No variable refers to the whole object, because a pause here keeps the variables in memory.
          yield* await this.#piece(object, { start, end: start + bytes - 1 }, isFirst);
        } finally {
          sent();
        }
        start += bytes;
      }
    } catch (error) {
      throw await this.#toProblem(object, error);
    }
  }

  /** A small object. Throws as `read` does. */
  async readWhole(object: ReadableObject): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.read(object, { start: 0, end: object.bytes - 1 })));
  }

  #isCacheable({ shared, bytes }: ReadableObject): boolean {
    return shared && bytes <= this.#largestCached;
  }

  async #piece(object: ReadableObject, range: ByteRange, isFirst: boolean): Promise<Buffer[]> {
    // A client that received the first piece long ago must not load the whole object again.
    const whole = await (isFirst ? this.#request(object) : this.#cache.get(object.key));
    if (whole === undefined) return this.#load(object.key, range);
    if (range.end - range.start + 1 === whole.byteLength) return [whole];
    // A copy, so that a slow client does not keep the whole object in memory.
    return [Buffer.from(whole.subarray(range.start, range.end + 1))];
  }

  /** The whole object, if it is cacheable: from the cache, from a read in progress, or read now. */
  async #request(object: ReadableObject): Promise<Buffer | undefined> {
    const cached = this.#cache.get(object.key);
    const loading = cached ?? this.#loading.get(object.key);
    if (object.shared) this.#metrics.segmentRequested(cached ? 'hit' : loading ? 'coalesced' : 'miss');
    return loading ?? (this.#isCacheable(object) ? this.#loadIntoCache(object) : undefined);
  }

  #loadIntoCache({ key, bytes }: ReadableObject): Promise<Buffer> {
    const load = async () => {
      try {
        const content = Buffer.concat(await this.#load(key, { start: 0, end: bytes - 1 }));
        this.#cache.set(key, content);
        return content;
      } finally {
        this.#loading.delete(key);
      }
    };
    const loading = load();
    this.#loading.set(key, loading);
    return loading;
  }

  /** Reads a range completely, without copying what arrives. When the connection breaks, it reads again. */
  async #load(key: string, range: ByteRange): Promise<Buffer[]> {
    const done = await this.#reads.take(1);
    try {
      for (let failures = 0; ; failures += 1) {
        const { body } = await this.#objects.get(key, range);
        try {
          return await readAll(body, range.end - range.start + 1);
        } catch (error) {
          if (failures === RETRIES) throw error;
        }
        await delay(RETRY_DELAY_MS);
      }
    } finally {
      done();
    }
  }

  async #toProblem({ missing }: ReadableObject, error: unknown): Promise<unknown> {
    if (error instanceof ObjectNotFoundError) return missing(error);
    if (error instanceof Problem) return error;
    if (error instanceof AllotmentExhaustedError) {
      this.#metrics.storedFileRefused();
      return unavailable(
        'The server sends to too many clients at the moment. Retry in a few seconds.',
        error,
      );
    }
    return unavailable('The storage cannot be reached at the moment.', error);
  }
}

/** Reads a stream of a known length. Throws when the length differs. */
async function readAll(body: Readable, bytes: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let read = 0;
  // Events use less processor time than an iterator.
  body.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    read += chunk.byteLength;
    if (read > bytes) body.destroy();
  });
  await finished(body);
  if (read !== bytes) throw new Error(`The object store sent ${read} of ${bytes} bytes`);
  return chunks;
}
