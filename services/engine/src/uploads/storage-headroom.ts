import type { DiskRoom, ObjectStore } from '@framelane/object-store/object-store';
import { reservedBytes } from '../disk-space.ts';
import { noRoom } from './upload-problems.ts';

/** How long free space that was read counts, in milliseconds: others write to the disk, too. */
const FRESH_MS = 500;

/** Room for one upload. */
export type HeadroomClaim = {
  /** To be called before `bytes` more are written. Throws a 507 Problem when they would come out of the reserve. */
  take(bytes: number): Promise<void>;
  /** Gives back what was not taken. */
  release(): void;
};

/**
 * Shares the free space of the disk with the objects out among the uploads of this engine. A store without a disk of its own
 * has room for everything.
 */
export class StorageHeadroom {
  readonly #objects: ObjectStore;
  /** Bytes that were announced and have not come yet, by claim. */
  readonly #promised = new Map<HeadroomClaim, number>();
  #seen: (DiskRoom & { at: number }) | null = null;
  #writtenSince = 0;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /**
   * Claims room for an upload of so many bytes, null when it does not announce how many. Throws a 507 Problem when they do
   * not fit beside the reserve and what other uploads have announced.
   */
  async claim(announced: number | null): Promise<HeadroomClaim> {
    const claim: HeadroomClaim = {
      take: (bytes) => this.#take(claim, bytes),
      release: () => void this.#promised.delete(claim),
    };
    this.#promised.set(claim, announced ?? 0);
    try {
      await this.#look();
      if (this.#spare() < this.#promisedBytes()) throw noRoom();
    } catch (error) {
      claim.release();
      throw error;
    }
    return claim;
  }

  /** Rejects while nothing but the reserve is left. */
  async check(): Promise<void> {
    await this.#look();
    if (this.#spare() <= 0) throw noRoom();
  }

  async #take(claim: HeadroomClaim, bytes: number): Promise<void> {
    const promised = this.#promised.get(claim) ?? 0;
    this.#promised.set(claim, Math.max(0, promised - bytes));
    // What was not announced has to fit beside what others have announced.
    const needed = bytes <= promised ? bytes : bytes + this.#promisedBytes();
    const isStale = this.#seen === null || performance.now() - this.#seen.at > FRESH_MS;
    if (isStale || this.#spare() < needed) await this.#look();
    if (this.#spare() < needed) throw noRoom();
    this.#writtenSince += bytes;
  }

  #promisedBytes(): number {
    return [...this.#promised.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Bytes that can be written without touching the reserve. */
  #spare(): number {
    if (this.#seen === null) return Number.POSITIVE_INFINITY;
    return this.#seen.freeBytes - this.#writtenSince - reservedBytes(this.#seen.totalBytes);
  }

  async #look(): Promise<void> {
    const room = await this.#objects.room?.();
    if (room === undefined) return;
    this.#seen = { ...room, at: performance.now() };
    this.#writtenSince = 0;
  }
}
