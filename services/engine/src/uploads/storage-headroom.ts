import type { ObjectStore } from '@framelane/object-store/object-store';
import { headroomBytes } from '../disk-space.ts';
import { storageFull } from './upload-problems.ts';

/** How long a reading of the headroom is valid, in milliseconds. Other programs write to the disk, too. */
const FRESH_MS = 500;

/** One upload's share of the headroom. */
export type HeadroomClaim = {
  /** Call it before writing `bytes` more. Throws a 507 Problem when they would use the reserve of the disk. */
  take(bytes: number): Promise<void>;
  /** Returns the announced bytes that were not taken. */
  release(): void;
};

/**
 * Shares the headroom of the objects' disk among the uploads of this engine. The headroom is the free space minus the reserve. An
 * object store without a disk of its own has infinite headroom.
 */
export class StorageHeadroom {
  readonly #objects: ObjectStore;
  /** Announced bytes that have not arrived yet, by claim. */
  readonly #announced = new Map<HeadroomClaim, number>();
  #headroom = Number.POSITIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /**
   * Claims headroom for an upload of `announced` bytes; null when the client does not announce its size. Throws a 507 Problem
   * when the headroom is too small for this upload and for what the other uploads have announced.
   */
  async claim(announced: number | null): Promise<HeadroomClaim> {
    const claim: HeadroomClaim = {
      take: (bytes) => this.#take(claim, bytes),
      release: () => void this.#announced.delete(claim),
    };
    this.#announced.set(claim, announced ?? 0);
    try {
      await this.#read();
      if (this.#headroom < this.#announcedBytes()) throw storageFull();
    } catch (error) {
      claim.release();
      throw error;
    }
    return claim;
  }

  /** Rejects while there is no headroom. */
  async check(): Promise<void> {
    await this.#read();
    if (this.#headroom <= 0) throw storageFull();
  }

  async #take(claim: HeadroomClaim, bytes: number): Promise<void> {
    const announced = this.#announced.get(claim) ?? 0;
    this.#announced.set(claim, Math.max(0, announced - bytes));
    // Bytes that were not announced must not use what other uploads have announced.
    const needed = bytes <= announced ? bytes : bytes + this.#announcedBytes();
    const isStale = performance.now() - this.#readAt > FRESH_MS;
    if (isStale || this.#headroom < needed) await this.#read();
    if (this.#headroom < needed) throw storageFull();
    this.#headroom -= bytes;
  }

  #announcedBytes(): number {
    return [...this.#announced.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  async #read(): Promise<void> {
    this.#headroom = await headroomBytes(this.#objects);
    this.#readAt = performance.now();
  }
}
