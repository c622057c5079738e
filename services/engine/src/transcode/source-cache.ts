import type { Hash } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '@framelane/object-store/object-store';

/** A source that no task has needed for this time is removed. */
const IDLE_MS = 10 * 60 * 1000;

type Source = { videoId: string; sourceKey: string };

/** A kept file, and what removes it once it is idle. */
type Kept = { path: string; idle: NodeJS.Timeout };

/**
 * The sources of long videos, so that an engine fetches each of them once. Jobs get hard links. If fetched objects are links to
 * stored ones, nothing is kept.
 */
export class SourceCache {
  /** Whether fetched objects are links to stored ones. */
  readonly areLinks: boolean;
  readonly #folder: string;
  readonly #objects: ObjectStore;
  /** By video, those that were used last at the end. */
  readonly #kept = new Map<string, Kept>();
  /** How many jobs hold the source of a video. */
  readonly #holds = new Map<string, number>();
  /** Videos whose source is removed when no job holds it. */
  readonly #unneeded = new Set<string>();
  readonly #fetching = new Map<string, Promise<void>>();
  #files = 0;

  /** @param folder is empty, and on the disk of the jobs */
  constructor(options: { folder: string; objects: ObjectStore; areLinks: boolean }) {
    this.#folder = options.folder;
    this.#objects = options.objects;
    this.areLinks = options.areLinks;
  }

  /** Whether a job needs no disk space for the source of a video, which it holds. */
  has(videoId: string): boolean {
    return this.areLinks || this.#kept.has(videoId);
  }

  /**
   * Prevents the removal of a video's source, until the returned function is called. Each job holds its source from before it reserves
   * disk space until its end. The removal of a file that a job uses would free no space, and the next job would fetch it again.
   */
  hold(videoId: string): () => void {
    this.#holds.set(videoId, (this.#holds.get(videoId) ?? 0) + 1);
    return () => {
      const left = (this.#holds.get(videoId) ?? 0) - 1;
      if (left > 0) this.#holds.set(videoId, left);
      else this.#holds.delete(videoId);
      if (this.#unneeded.has(videoId)) this.#remove(videoId);
      else this.#use(videoId);
    };
  }

  /** Keeps the file at `path` as the source of a video. */
  async keep(videoId: string, path: string): Promise<void> {
    if (this.has(videoId)) return;
    this.#files += 1;
    const keptPath = join(this.#folder, `${videoId}.${this.#files}`);
    await link(path, keptPath);
    this.#kept.set(videoId, { path: keptPath, idle: this.#whenIdle(videoId) });
  }

  /** Fetches a source to `path`, and hashes it on the way. It is not kept. */
  async fetch({ sourceKey }: Source, path: string, signal: AbortSignal, hash?: Hash): Promise<void> {
    await this.#objects.fetchToFile(sourceKey, path, signal, hash);
  }

  /** Links the source of a video, which the job holds, to `path`. Fetches and keeps it before, if no other job does. */
  async link(source: Source, path: string, signal: AbortSignal): Promise<void> {
    const { videoId } = source;
    if (this.areLinks) return this.fetch(source, path, signal);
    while (this.#fetching.has(videoId)) await this.#fetching.get(videoId)?.catch(() => {});
    signal.throwIfAborted();
    const kept = this.#kept.get(videoId);
    if (kept) {
      // An interrupted download may have left a part of the file.
      await rm(path, { force: true });
      return link(kept.path, path);
    }
    const fetching = this.fetch(source, path, signal).then(() => this.keep(videoId, path));
    this.#fetching.set(videoId, fetching);
    await fetching.finally(() => this.#fetching.delete(videoId));
  }

  /** Removes the source that no job holds and that was used least recently, to make room. Resolves with whether there was one. */
  async removeOldest(): Promise<boolean> {
    const oldest = [...this.#kept.keys()].find((videoId) => !this.#holds.has(videoId));
    if (oldest === undefined) return false;
    await this.#remove(oldest);
    return true;
  }

  /** Removes the source of a video that needs no more tasks, once no job holds it. */
  async remove(videoId: string): Promise<void> {
    this.#unneeded.add(videoId);
    await this.#remove(videoId);
  }

  /** Removes a kept source, unless a job holds it. Never rejects. */
  async #remove(videoId: string): Promise<void> {
    if (this.#holds.has(videoId)) return;
    this.#unneeded.delete(videoId);
    const kept = this.#kept.get(videoId);
    if (kept === undefined) return;
    clearTimeout(kept.idle);
    this.#kept.delete(videoId);
    // The next start of the engine removes what cannot be removed now.
    await rm(kept.path, { force: true }).catch(() => {});
  }

  #use(videoId: string): void {
    const kept = this.#kept.get(videoId);
    if (kept === undefined) return;
    clearTimeout(kept.idle);
    this.#kept.delete(videoId);
    this.#kept.set(videoId, { ...kept, idle: this.#whenIdle(videoId) });
  }

  #whenIdle(videoId: string): NodeJS.Timeout {
    return setTimeout(() => this.#remove(videoId), IDLE_MS).unref();
  }
}
