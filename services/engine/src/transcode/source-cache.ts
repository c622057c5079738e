import type { Hash } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '@framelane/object-store/object-store';

/** A source that no task has needed for this time is removed. */
const IDLE_MS = 10 * 60 * 1000;

type Source = { videoId: string; sourceKey: string };

/**
 * The sources of long videos, so that an engine fetches each of them once. Jobs get hard links, so a source can be removed while a
 * job reads it. If fetched objects are links to stored ones, nothing is kept.
 */
export class SourceCache {
  /** Whether fetched objects are links to stored ones. */
  readonly areLinks: boolean;
  readonly #folder: string;
  readonly #objects: ObjectStore;
  /** What removes each kept source once it is idle. */
  readonly #kept = new Map<string, NodeJS.Timeout>();
  readonly #fetching = new Map<string, Promise<void>>();

  /** @param folder is empty, and on the disk of the jobs */
  constructor(options: { folder: string; objects: ObjectStore; areLinks: boolean }) {
    this.#folder = options.folder;
    this.#objects = options.objects;
    this.areLinks = options.areLinks;
  }

  /** Whether a task of the video needs no disk space for its source. */
  has(videoId: string): boolean {
    return this.areLinks || this.#kept.has(videoId);
  }

  /** Keeps the file at `path` as the source of a video. */
  async keep(videoId: string, path: string): Promise<void> {
    if (this.has(videoId)) return;
    await link(path, this.#pathOf(videoId));
    this.#use(videoId);
  }

  /** Fetches a source to `path`, and hashes it on the way. It is not kept. */
  async fetch({ sourceKey }: Source, path: string, signal: AbortSignal, hash?: Hash): Promise<void> {
    await this.#objects.fetchToFile(sourceKey, path, signal, hash);
  }

  /** Links a kept source to `path`. Fetches and keeps it before, if no other job does. */
  async link(source: Source, path: string, signal: AbortSignal): Promise<void> {
    const { videoId } = source;
    if (this.areLinks) return this.fetch(source, path, signal);
    while (this.#fetching.has(videoId)) await this.#fetching.get(videoId)?.catch(() => {});
    signal.throwIfAborted();
    if (this.#kept.has(videoId)) {
      this.#use(videoId);
      // An interrupted download may have left a part of the file.
      await rm(path, { force: true });
      return link(this.#pathOf(videoId), path);
    }
    const fetching = this.fetch(source, path, signal).then(() => this.keep(videoId, path));
    this.#fetching.set(videoId, fetching);
    await fetching.finally(() => this.#fetching.delete(videoId));
  }

  /** Removes all sources that are kept, to make room. Jobs keep theirs. */
  async clear(): Promise<void> {
    for (const videoId of [...this.#kept.keys()]) await this.remove(videoId);
  }

  /** Removes the source of a video that needs no more tasks. */
  async remove(videoId: string): Promise<void> {
    clearTimeout(this.#kept.get(videoId));
    this.#kept.delete(videoId);
    await rm(this.#pathOf(videoId), { force: true });
  }

  #use(videoId: string): void {
    clearTimeout(this.#kept.get(videoId));
    const idle = setTimeout(() => void this.remove(videoId).catch(() => {}), IDLE_MS);
    this.#kept.set(videoId, idle.unref());
  }

  #pathOf(videoId: string): string {
    return join(this.#folder, videoId);
  }
}
