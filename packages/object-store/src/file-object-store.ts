import { type Hash, randomUUID } from 'node:crypto';
import { type BigIntStats, constants, createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { FileResumableWriter } from './file-resumable.ts';
import { inFolder } from './in-folder.ts';
import { assertKey, assertPrefix, compareKeys } from './object-keys.ts';
import {
  type ByteRange,
  type Checkpoint,
  type DiskSpace,
  NotResumableError,
  ObjectExistsError,
  type ObjectInfo,
  ObjectNotFoundError,
  type ObjectStore,
  type ResumableWriter,
  type StoredObject,
} from './object-store.ts';
import { refuseLinks, SymbolicLinkError } from './symbolic-links.ts';
import { writeInto, writeNewFile } from './write-new-file.ts';

/** Folder of unfinished objects. No key starts with a dot. The name of each is its key, encoded, and something unique. */
const TEMPORARY = '.tmp';

/** Separates the key from what makes the name unique. No key has this character. */
const KEY_END = '~';

/** Folder of unfinished resumable objects. The name of each is its key, encoded. */
const UNFINISHED = '.unfinished';

/** Does not follow a symbolic link, and does not block on a FIFO. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** How often to try to create the folder of a new object while `deletePrefix` removes empty folders. */
const FOLDER_ATTEMPTS = 20;

/** Objects as plain files below a folder. The key is the path. Content types are not stored. */
export class FileObjectStore implements ObjectStore {
  readonly kind = 'files';
  readonly #root: string;
  readonly #refusesLinks: boolean;

  /** With `refusesLinks`, nothing below `root` is reached through a symbolic link: SymbolicLinkError. For folders that others may write to. */
  constructor(root: string, { refusesLinks = false }: { refusesLinks?: boolean } = {}) {
    this.#root = resolve(root);
    this.#refusesLinks = refusesLinks;
  }

  async put(key: string, body: Uint8Array, contentType: string): Promise<void> {
    await this.putStream(key, Readable.from([body]), { contentType });
  }

  async putStream(
    key: string,
    body: Readable,
    options: { contentType: string; signal?: AbortSignal; ifAbsent?: boolean },
  ): Promise<{ bytes: number }> {
    const { signal, ifAbsent = false } = options;
    // Until the stream is read, its error would be an uncaught exception. Reading reports it.
    body.once('error', () => {});
    const [path, temporary] = await this.#pathsFor(key).catch((error) => {
      body.destroy();
      throw error;
    });
    const bytes = await writeNewFile(body, temporary, { flush: true, ...(signal && { signal }) });
    try {
      if (ifAbsent && (await this.head(key))) throw new ObjectExistsError(key);
      await moveDurably(temporary, path);
      return { bytes };
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async beginResumable(key: string): Promise<Checkpoint> {
    const path = await this.#unfinishedPath(key);
    await mkdir(dirname(path), { recursive: true });
    // It may exist: another process has begun it, but could not save the checkpoint.
    await (await open(path, 'a')).close();
    await syncFolder(dirname(path));
    return { id: 'file', durableBytes: 0, tail: [], laterBytesUntrusted: false };
  }

  async resume(key: string, checkpoint: Checkpoint, length: number): Promise<ResumableWriter> {
    const path = await this.#unfinishedPath(key);
    const publish = async () => {
      // Another process may have been faster.
      await moveDurably(path, await this.#path(key)).catch(async (error: unknown) => {
        if ((await this.head(key))?.bytes !== length) throw error;
      });
    };
    const stats = await orMissing(stat(path));
    if (stats === null) {
      if ((await this.head(key))?.bytes !== length) throw new NotResumableError(key);
      return new FileResumableWriter(null, checkpoint.laterBytesUntrusted, length, async () => {});
    }
    if (stats.size < checkpoint.durableBytes) throw new NotResumableError(key);
    const offset = checkpoint.laterBytesUntrusted ? checkpoint.durableBytes : Math.min(stats.size, length);
    return FileResumableWriter.open(path, checkpoint, offset, publish);
  }

  async discardResumable(key: string): Promise<void> {
    await rm(await this.#unfinishedPath(key), { force: true });
  }

  async get(key: string, range?: ByteRange): Promise<StoredObject> {
    const file = await orMissing(open(await this.#path(key), READ_ONLY));
    if (!file) throw new ObjectNotFoundError(key);
    try {
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) throw new ObjectNotFoundError(key);
      const info = infoOf(stats);
      if (range && range.start >= info.bytes) throw new RangeError(`${key} ends before byte ${range.start}`);
      return { ...info, body: file.createReadStream(range) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const stats = await orMissing(stat(await this.#path(key), { bigint: true }));
    return stats?.isFile() ? infoOf(stats) : null;
  }

  /** Makes a hard link where the file system allows it, and a copy elsewhere. */
  async fetchToFile(key: string, path: string, signal: AbortSignal, hash?: Hash): Promise<void> {
    signal.throwIfAborted();
    try {
      await link(await this.#path(key), path);
    } catch (error) {
      if (isCode(error, 'EEXIST')) throw error;
      const { body } = await this.get(key);
      await writeNewFile(body, path, { signal });
    }
    if (hash) for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  }

  async fetchRange(
    key: string,
    range: ByteRange,
    path: string,
    { signal, onWritten }: { signal: AbortSignal; onWritten: (position: number) => void },
  ): Promise<void> {
    signal.throwIfAborted();
    const { body, bytes } = await this.get(key, range);
    if (range.end >= bytes) {
      body.destroy();
      throw new RangeError(`${key} ends before byte ${range.end}`);
    }
    await writeInto(body, path, { start: range.start, signal, onWritten });
  }

  async fetchesAsLinks(folder: string): Promise<boolean> {
    // Tries it, because even two mounts of the same device cannot share hard links.
    const from = await this.#temporaryPath();
    const to = join(folder, basename(from));
    await writeNewFile(Readable.from([]), from, {});
    try {
      await link(from, to);
      return true;
    } catch {
      return false;
    } finally {
      await rm(to, { force: true });
      await rm(from, { force: true });
    }
  }

  async *list(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }> {
    assertPrefix(prefix);
    yield* this.#listFolder(prefix);
  }

  /** The folder may have a name that no key has: somebody else created it. */
  async *#listFolder(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }> {
    const folder = await this.#below(prefix);
    const entries = (await orMissing(readdir(folder, { withFileTypes: true }))) ?? [];
    const link = entries.find((entry) => this.#refusesLinks && entry.isSymbolicLink());
    if (link !== undefined) throw new SymbolicLinkError(join(folder, link.name));
    // A folder sorts as its keys do, which go on with a slash.
    const names = entries
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort(compareKeys);
    for (const name of names) {
      const key = prefix + name;
      if (name.endsWith('/')) {
        yield* this.#listFolder(key);
      } else {
        const stats = await orMissing(stat(join(this.#root, key)));
        if (stats) yield { key, bytes: stats.size, modifiedAt: stats.mtime };
      }
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await rm(await this.#path(key), { force: true });
      await this.#removeEmptyFolders(key);
    }
  }

  async deletePrefix(prefix: string): Promise<void> {
    assertPrefix(prefix);
    await orMissing(rm(await this.#below(prefix), { recursive: true, maxRetries: 3 }));
    await this.#removeEmptyFolders(prefix);
  }

  /** Removes the empty folders above a key or a prefix. */
  async #removeEmptyFolders(below: string): Promise<void> {
    for (let folder = dirname(below); folder !== '.'; folder = dirname(folder)) {
      if (!(await removeIfEmpty(join(this.#root, folder)))) return;
    }
  }

  /** Without `isLive`, leaves unfinished `putStream` objects to their writers. */
  async abortUploads(prefix: string, isLive?: (key: string) => Promise<boolean>): Promise<void> {
    assertPrefix(prefix);
    for (const name of isLive ? [TEMPORARY, UNFINISHED] : [UNFINISHED]) {
      const folder = await this.#below(name);
      for await (const { key, path } of unfinishedIn(folder)) {
        if (key.startsWith(prefix) && !(await isLive?.(key))) await rm(path, { force: true });
      }
    }
  }

  async abortStaleUploads(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number> {
    return (await this.#removeStaleTemporary(before)) + (await this.#removeStaleUnfinished(before, isLive));
  }

  async #removeStaleUnfinished(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number> {
    let removed = 0;
    for await (const { key, path } of unfinishedIn(await this.#below(UNFINISHED))) {
      const stats = await orMissing(stat(path));
      if (!stats || stats.mtime >= before || (await isLive(key))) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  async #removeStaleTemporary(before: Date): Promise<number> {
    let removed = 0;
    for await (const { path } of unfinishedIn(await this.#below(TEMPORARY))) {
      const stats = await orMissing(stat(path));
      if (!stats || stats.mtime >= before) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  async diskSpace(): Promise<DiskSpace> {
    const { bavail, blocks, bsize } = await inFolder(this.#root, () => statfs(this.#root));
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  }

  async check(): Promise<void> {
    const path = await this.#temporaryPath();
    await writeNewFile(Readable.from(['x']), path, {});
    await rm(path, { force: true });
  }

  async #path(key: string): Promise<string> {
    assertKey(key);
    return this.#below(key);
  }

  async #unfinishedPath(key: string): Promise<string> {
    assertKey(key);
    return this.#below(UNFINISHED, encodeURIComponent(key));
  }

  /** Without a key for a file that does not become an object. */
  async #temporaryPath(key = ''): Promise<string> {
    return this.#below(TEMPORARY, `${encodeURIComponent(key)}${KEY_END}${randomUUID()}`);
  }

  /** The path of an object, and that of the file from which it is made. */
  #pathsFor(key: string): Promise<[string, string]> {
    return Promise.all([this.#path(key), this.#temporaryPath(key)]);
  }

  /** A path below the root. */
  async #below(...names: string[]): Promise<string> {
    const path = join(this.#root, ...names);
    if (this.#refusesLinks) await refuseLinks(this.#root, path);
    return path;
  }
}

/** The files in a folder of unfinished objects. */
async function* unfinishedIn(folder: string): AsyncIterable<{ key: string; path: string }> {
  for (const name of (await orMissing(readdir(folder))) ?? []) {
    const [key = ''] = name.split(KEY_END);
    yield { key: decodeURIComponent(key), path: join(folder, name) };
  }
}

function infoOf(stats: BigIntStats): ObjectInfo {
  // The inode distinguishes two objects that were written within one tick of the file system's clock.
  const etag = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(16)).join('-');
  return { bytes: Number(stats.size), etag: `"${etag}"`, modifiedAt: stats.mtime };
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Resolves with null when the path does not exist. */
async function orMissing<T>(access: Promise<T>): Promise<T | null> {
  try {
    return await access;
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/** Resolves with whether the folder no longer exists. */
async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await orMissing(rmdir(folder));
    return true;
  } catch (error) {
    if (isCode(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
}

/** Moves a file, creating folders where needed. When it resolves, the move survives a power cut. */
async function moveDurably(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const firstCreated = await moveIntoFolder(from, to, folder);
  const top = firstCreated === undefined ? folder : dirname(firstCreated);
  for (let at = folder; ; at = dirname(at)) {
    await syncFolder(at);
    if (at === top) return;
  }
}

/** Resolves with the topmost folder that was created, if any. */
async function moveIntoFolder(from: string, to: string, folder: string): Promise<string | undefined> {
  let firstCreated: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Most objects have a folder already.
      if (attempt > 1) firstCreated = await mkdir(folder, { recursive: true });
      await rename(from, to);
      return firstCreated;
    } catch (error) {
      // A recursive mkdir may fail with ENOTDIR when a parent folder is removed meanwhile.
      if (!isCode(error, 'ENOENT', 'ENOTDIR') || attempt > FOLDER_ATTEMPTS) throw error;
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  // A folder that was removed meanwhile had its objects deleted.
  const handle = await orMissing(open(folder));
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
