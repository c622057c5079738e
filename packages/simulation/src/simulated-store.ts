import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { compareKeys } from '@framelane/object-store/object-keys';
import {
  type ByteRange,
  type Checkpoint,
  NotResumableError,
  ObjectExistsError,
  type ObjectInfo,
  ObjectNotFoundError,
  type ObjectStore,
  type ResumableWriter,
  type StoredObject,
} from '@framelane/object-store/object-store';
import { whileAlive } from './simulated-process.ts';
import { latency, type World } from './world.ts';

type Entry = { body: Buffer; modifiedAt: Date };

class StoreError extends Error {
  override name = 'SimulatedStoreError';
}

/**
 * An object store in memory, which all processes share. An operation takes time, fails without an effect, or has its effect and then fails. What a
 * killed process has sent may still be stored later.
 */
export class SimulatedStore implements ObjectStore {
  readonly kind = 's3';
  readonly #world: World;
  readonly #objects = new Map<string, Entry>();
  /** Bytes of objects that arrive over a long time, by the id of their checkpoint. */
  readonly #unfinished = new Map<string, { key: string; body: Buffer; begunAt: Date }>();
  #begun = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sizes in bytes by key. */
  sizes(): Map<string, number> {
    return new Map([...this.#objects].map(([key, { body }]) => [key, body.byteLength]));
  }

  /** Keys of unfinished objects. */
  unfinished(): string[] {
    return [...this.#unfinished.values()].map(({ key }) => key);
  }

  put(key: string, body: Uint8Array): Promise<void> {
    return this.#operation(`put ${key}`, () => this.#set(key, Buffer.from(body)));
  }

  async putStream(
    key: string,
    body: Readable,
    { signal, ifAbsent = false }: { contentType: string; signal: AbortSignal; ifAbsent?: boolean },
  ): Promise<{ bytes: number }> {
    const chunks: Buffer[] = [];
    const abort = () => body.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      for await (const chunk of body) chunks.push(Buffer.from(chunk));
    } finally {
      signal.removeEventListener('abort', abort);
      body.destroy();
    }
    const whole = Buffer.concat(chunks);
    await this.#operation(`put ${key}`, () => {
      if (ifAbsent && this.#objects.has(key)) throw new ObjectExistsError(key);
      this.#set(key, whole);
    });
    return { bytes: whole.byteLength };
  }

  beginResumable(key: string): Promise<Checkpoint> {
    return this.#operation(`begin ${key}`, () => {
      this.#begun += 1;
      const id = `upload-${this.#begun}`;
      this.#unfinished.set(id, { key, body: Buffer.alloc(0), begunAt: new Date() });
      return { id, durableBytes: 0, tail: [], laterBytesUntrusted: false };
    });
  }

  resume(key: string, checkpoint: Checkpoint, length: number): Promise<ResumableWriter> {
    return this.#operation(`resume ${key}`, () => {
      const unfinished = this.#unfinished.get(checkpoint.id);
      if (unfinished === undefined) {
        if (this.#objects.get(key)?.body.byteLength !== length) throw new NotResumableError(key);
        return this.#writer(key, checkpoint, length);
      }
      if (unfinished.body.byteLength < checkpoint.durableBytes) throw new NotResumableError(key);
      // Bytes after the checkpoint may be lost with the process that wrote them.
      const offset = checkpoint.durableBytes;
      unfinished.body = unfinished.body.subarray(0, offset);
      return this.#writer(key, checkpoint, offset);
    });
  }

  #writer(key: string, checkpoint: Checkpoint, offset: number): ResumableWriter {
    const { id } = checkpoint;
    let at = offset;
    const writer: ResumableWriter = {
      get offset() {
        return at;
      },
      laterBytesUntrusted: checkpoint.laterBytesUntrusted,
      write: (chunk) => {
        const bytes = Buffer.from(chunk);
        return this.#operation(`write ${key}`, () => {
          const unfinished = this.#unfinished.get(id);
          if (unfinished === undefined) throw new StoreError('No such upload');
          unfinished.body = Buffer.concat([unfinished.body.subarray(0, at), bytes]);
          at += bytes.byteLength;
        });
      },
      settle: async () => ({
        id,
        durableBytes: at,
        tail: [],
        laterBytesUntrusted: writer.laterBytesUntrusted,
      }),
      prune: async () => {},
      complete: () =>
        this.#operation(`complete ${key}`, () => {
          const unfinished = this.#unfinished.get(id);
          if (unfinished === undefined) {
            if (this.#objects.has(key)) return;
            throw new NotResumableError(key);
          }
          this.#set(key, unfinished.body);
          this.#unfinished.delete(id);
        }),
      close: async () => {},
    };
    return writer;
  }

  discardResumable(key: string, { id }: Checkpoint): Promise<void> {
    return this.#operation(`discard ${key}`, () => void this.#unfinished.delete(id));
  }

  get(key: string, range?: ByteRange): Promise<StoredObject> {
    return this.#operation(`get ${key}`, () => {
      const entry = this.#entry(key);
      if (range && range.start >= entry.body.byteLength) throw new RangeError(`${key} is shorter`);
      const body = range ? entry.body.subarray(range.start, range.end + 1) : entry.body;
      return { ...infoOf(entry), body: Readable.from([body]) };
    });
  }

  head(key: string): Promise<ObjectInfo | null> {
    return this.#operation(`head ${key}`, () => {
      const entry = this.#objects.get(key);
      return entry ? infoOf(entry) : null;
    });
  }

  fetchToFile(key: string, path: string, signal: AbortSignal, hash?: Hash): Promise<void> {
    return this.#operation(`get ${key}`, () => {
      signal.throwIfAborted();
      const { body } = this.#entry(key);
      writeFileSync(path, body, { flag: 'wx' });
      hash?.update(body);
    });
  }

  fetchRange(
    key: string,
    { start, end }: ByteRange,
    path: string,
    { signal, onWritten }: { signal: AbortSignal; onWritten: (position: number) => void },
  ): Promise<void> {
    return this.#operation(`get ${key}`, () => {
      signal.throwIfAborted();
      const { body } = this.#entry(key);
      if (end >= body.byteLength) throw new RangeError(`${key} ends before byte ${end}`);
      const file = openSync(path, 'r+');
      writeSync(file, body.subarray(start, end + 1), 0, end + 1 - start, start);
      closeSync(file);
      onWritten(end + 1);
    });
  }

  async *list(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }> {
    // A page at a time: objects may come and go between two.
    const seen = await this.#operation(`list ${prefix}`, () => this.#below(prefix));
    for (const key of seen) {
      const entry = this.#objects.get(key);
      if (entry) yield { key, bytes: entry.body.byteLength, modifiedAt: entry.modifiedAt };
    }
  }

  delete(keys: readonly string[]): Promise<void> {
    return this.#deleteAll(`delete ${keys.join(' ')}`, () => keys);
  }

  deletePrefix(prefix: string): Promise<void> {
    return this.#deleteAll(`delete ${prefix}`, () => this.#below(prefix));
  }

  async abortUploads(prefix: string, isLive?: (key: string) => Promise<boolean>): Promise<void> {
    const found = await this.#operation(`list uploads ${prefix}`, () =>
      [...this.#unfinished].filter(([, { key }]) => key.startsWith(prefix)),
    );
    for (const [id, { key }] of found) if (!(await isLive?.(key))) this.#unfinished.delete(id);
  }

  async abortStaleUploads(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number> {
    let removed = 0;
    const found = await this.#operation('list uploads', () => [...this.#unfinished]);
    for (const [id, { key, begunAt }] of found) {
      if (begunAt >= before || (await isLive(key))) continue;
      this.#unfinished.delete(id);
      removed += 1;
    }
    return removed;
  }

  async check(): Promise<void> {
    await this.#operation('check', () => {});
  }

  #below(prefix: string): string[] {
    return [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort(compareKeys);
  }

  #entry(key: string): Entry {
    const entry = this.#objects.get(key);
    if (entry === undefined) throw new ObjectNotFoundError(key);
    return entry;
  }

  #set(key: string, body: Buffer): void {
    this.#objects.set(key, { body, modifiedAt: new Date() });
  }

  /** A failed deletion has removed some of the objects. */
  #deleteAll(what: string, keysOf: () => readonly string[]): Promise<void> {
    return this.#operation(what, () => {
      const keys = keysOf();
      const isTorn = this.#world.faults.hits('tornObject');
      const removed = isTorn ? keys.slice(0, this.#world.random.below(keys.length + 1)) : keys;
      for (const key of removed) this.#objects.delete(key);
      if (isTorn) throw new StoreError('The store has failed');
    });
  }

  #operation<T>(what: string, effect: () => T): Promise<T> {
    return whileAlive(this.#perform(what, effect));
  }

  async #perform<T>(what: string, effect: () => T): Promise<T> {
    const { faults, history } = this.#world;
    await latency(this.#world, 5);
    if (faults.hits('failedObject')) {
      history.say('store', `fails to ${what}`);
      throw new StoreError('The store has failed');
    }
    const result = effect();
    history.mark('store', what);
    await latency(this.#world, 5);
    if (faults.hits('tornObject')) {
      history.say('store', `fails after ${what}`);
      throw new StoreError('The store has failed');
    }
    return result;
  }
}

function infoOf({ body, modifiedAt }: Entry): ObjectInfo {
  return {
    bytes: body.byteLength,
    etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`,
    modifiedAt,
  };
}
