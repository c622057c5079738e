import type { Hash } from 'node:crypto';
import { link, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { type ByteRanges, lengthOf, union, without } from '../source/byte-ranges.ts';

/** A source that no task has needed for this time is removed. */
const IDLE_MS = 10 * 60 * 1000;

type Source = { videoId: string; sourceKey: string; sourceBytes: number };

/** A file of the size of a source, the parts that have been fetched, and the timer that removes it. */
type CachedSource = { path: string; fetched: ByteRanges; idle: NodeJS.Timeout };

/**
 * Caches the sources of long videos, or the parts that jobs needed, so that an engine fetches no byte twice. Jobs get hard links.
 * Caches nothing if fetched objects are links to stored ones.
 */
export class SourceCache {
  /** Whether fetched objects are links to stored ones. */
  readonly fetchesAsLinks: boolean;
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #onFetched: (bytes: number) => void;
  /** By video. The one that was used last is at the end. */
  readonly #cached = new Map<string, CachedSource>();
  /** How many jobs hold the source of a video. */
  readonly #holds = new Map<string, number>();
  /** Videos whose source is removed when no job holds it. */
  readonly #unneeded = new Set<string>();
  readonly #fetching = new Map<string, Promise<void>>();
  #files = 0;

  /**
   * @param folder is empty, and on the disk of the jobs
   * @param onFetched is called with the number of bytes that were copied from the object store
   */
  constructor(options: {
    folder: string;
    objects: ObjectStore;
    fetchesAsLinks: boolean;
    onFetched?: (bytes: number) => void;
  }) {
    this.#onFetched = options.onFetched ?? (() => {});
    this.#folder = options.folder;
    this.#objects = options.objects;
    this.fetchesAsLinks = options.fetchesAsLinks;
  }

  /** Whether any part of the source of a video is cached. */
  has(videoId: string): boolean {
    return this.#cached.has(videoId);
  }

  /** The number of bytes to fetch for a job that holds the source and needs these parts of it. */
  missingBytes(
    { videoId, sourceBytes }: Omit<Source, 'sourceKey'>,
    parts: ByteRanges = [[0, sourceBytes]],
  ): number {
    return this.fetchesAsLinks ? 0 : lengthOf(without(parts, this.#cached.get(videoId)?.fetched ?? []));
  }

  /**
   * Prevents the removal of a video's source, until the returned function is called. Each job holds its source before it reserves
   * disk space, and until it ends. The removal of a file that a job uses would free no space, and the next job would fetch it again.
   */
  hold(videoId: string): () => void {
    this.#holds.set(videoId, (this.#holds.get(videoId) ?? 0) + 1);
    return () => {
      const left = (this.#holds.get(videoId) ?? 0) - 1;
      if (left > 0) this.#holds.set(videoId, left);
      else this.#holds.delete(videoId);
      if (this.#unneeded.has(videoId)) this.#remove(videoId);
      else this.#markUsed(videoId);
    };
  }

  /** Adds the file at `path` as the source of a video. */
  async add({ videoId, sourceBytes }: Omit<Source, 'sourceKey'>, path: string): Promise<void> {
    if (this.fetchesAsLinks || this.has(videoId)) return;
    const cachedPath = this.#newPath(videoId);
    await link(path, cachedPath);
    this.#cached.set(videoId, {
      path: cachedPath,
      fetched: [[0, sourceBytes]],
      idle: this.#whenIdle(videoId),
    });
  }

  /** Fetches a source to `path` and hashes it during the download. Does not cache it. */
  async fetch(
    { sourceKey, sourceBytes }: Source,
    path: string,
    signal: AbortSignal,
    hash?: Hash,
  ): Promise<void> {
    await this.#objects.fetchToFile(sourceKey, path, signal, hash);
    if (!this.fetchesAsLinks) this.#onFetched(sourceBytes);
  }

  /**
   * Creates a hard link to the cached source at `path`. The job must hold the source. The file has at least the given parts; the others may
   * be zeros. Fetches missing parts, one job at a time.
   */
  async link(source: Source, path: string, signal: AbortSignal, parts?: ByteRanges): Promise<void> {
    const { videoId } = source;
    if (this.fetchesAsLinks) return this.fetch(source, path, signal);
    while (this.missingBytes(source, parts) > 0) {
      const other = this.#fetching.get(videoId);
      if (other) {
        await other.catch(() => {});
        signal.throwIfAborted();
        continue;
      }
      const fetching = this.#fetchMissing(source, parts, signal);
      this.#fetching.set(videoId, fetching);
      await fetching.finally(() => this.#fetching.delete(videoId));
    }
    const cached = this.#cached.get(videoId);
    if (cached === undefined) throw new Error(`The source of ${videoId} was removed while a job held it`);
    // An earlier call, which failed later, may have created the link.
    await rm(path, { force: true });
    await link(cached.path, path);
  }

  /** If it fails, the parts that it has fetched remain cached. */
  async #fetchMissing(source: Source, parts: ByteRanges | undefined, signal: AbortSignal): Promise<void> {
    const { videoId, sourceKey, sourceBytes } = source;
    const cached = this.#cached.get(videoId) ?? (await this.#create(source));
    for (const [start, end] of without(parts ?? [[0, sourceBytes]], cached.fetched)) {
      let written = start;
      const onWritten = (position: number) => {
        this.#onFetched(position - written);
        written = position;
        cached.fetched = union([...cached.fetched, [start, position]]);
      };
      await this.#objects.fetchRange(sourceKey, { start, end: end - 1 }, cached.path, { signal, onWritten });
    }
  }

  /** Creates a sparse file of the size of the source. */
  async #create({ videoId, sourceBytes }: Source): Promise<CachedSource> {
    const path = this.#newPath(videoId);
    await writeFile(path, '', { flag: 'wx' });
    await truncate(path, sourceBytes);
    const cached = { path, fetched: [], idle: this.#whenIdle(videoId) };
    this.#cached.set(videoId, cached);
    return cached;
  }

  #newPath(videoId: string): string {
    this.#files += 1;
    return join(this.#folder, `${videoId}.${this.#files}`);
  }

  /** Removes the source that no job holds and that was used least recently, to make room. Resolves with whether there was one. */
  async removeLeastRecentlyUsed(): Promise<boolean> {
    const oldest = [...this.#cached.keys()].find((videoId) => !this.#holds.has(videoId));
    if (oldest === undefined) return false;
    await this.#remove(oldest);
    return true;
  }

  /** Removes the source of a video that needs no more tasks, once no job holds it. */
  async remove(videoId: string): Promise<void> {
    this.#unneeded.add(videoId);
    await this.#remove(videoId);
  }

  /** Removes a cached source, unless a job holds it. Never rejects. */
  async #remove(videoId: string): Promise<void> {
    if (this.#holds.has(videoId)) return;
    this.#unneeded.delete(videoId);
    const cached = this.#cached.get(videoId);
    if (cached === undefined) return;
    clearTimeout(cached.idle);
    this.#cached.delete(videoId);
    // The next start of the engine removes what cannot be removed now.
    await rm(cached.path).catch(() => {});
  }

  #markUsed(videoId: string): void {
    const cached = this.#cached.get(videoId);
    if (cached === undefined) return;
    clearTimeout(cached.idle);
    this.#cached.delete(videoId);
    cached.idle = this.#whenIdle(videoId);
    this.#cached.set(videoId, cached);
  }

  #whenIdle(videoId: string): NodeJS.Timeout {
    return setTimeout(() => this.#remove(videoId), IDLE_MS).unref();
  }
}
