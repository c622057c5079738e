import { statfs } from 'node:fs/promises';

/** Bytes that can still be written where a directory is. */
export async function freeDiskBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Part of the disk, promised to a job. */
export type Reservation = {
  /** Keeps only so many bytes promised: the others are on the disk by now. */
  reduceTo(bytes: number): void;
  release(): void;
};

/** The disk where jobs work: what is free, less what is promised to jobs that have not written it yet. */
export class DiskSpace {
  readonly #directory: string;
  readonly #spareBytes: number;
  #promised = 0;

  /** @param spareBytes bytes that stay free besides what is promised */
  constructor(directory: string, spareBytes: number) {
    this.#directory = directory;
    this.#spareBytes = spareBytes;
  }

  /** Whether there is room for a small job. */
  async hasRoom(): Promise<boolean> {
    return (await this.#room()) >= 0;
  }

  /** Promises bytes to a job; null when there are not so many. */
  async reserve(bytes: number): Promise<Reservation | null> {
    // Nothing is awaited between the check and the promise.
    if ((await this.#room()) < bytes) return null;
    let left = bytes;
    this.#promised += left;
    const reduceTo = (next: number) => {
      this.#promised -= left - next;
      left = next;
    };
    return { reduceTo, release: () => reduceTo(0) };
  }

  async #room(): Promise<number> {
    const free = await freeDiskBytes(this.#directory);
    return free - this.#promised - this.#spareBytes;
  }
}
