/** Part of the disk, promised to a job. */
export type Reservation = {
  /** Keeps only so many bytes promised: the others are on the disk by now. */
  reduceTo(bytes: number): void;
  release(): void;
};

/** The disk where jobs work: what is free, less what is promised to jobs that have not written it yet. */
export class DiskReservations {
  readonly #free: () => Promise<number>;
  #promised = 0;
  /** Bytes that the jobs under way were promised at their start, which they give back at their end. */
  #taken = 0;

  /** @param free bytes that jobs may still write, without what has to stay free; below zero when that is used */
  constructor(free: () => Promise<number>) {
    this.#free = free;
  }

  /**
   * Whether there is room for a small job. Promises do not count: a large source that is being fetched is on the disk in
   * part, and would count twice.
   */
  async hasRoom(): Promise<boolean> {
    return (await this.#free()) >= 0;
  }

  /** Promises bytes to a job; null when there are not so many. */
  async reserve(bytes: number): Promise<Reservation | null> {
    // Nothing is awaited between the check and the promise.
    if ((await this.#free()) - this.#promised < bytes) return null;
    let left = bytes;
    let taken = bytes;
    this.#promised += left;
    this.#taken += taken;
    const reduceTo = (next: number) => {
      this.#promised -= left - next;
      left = next;
    };
    const release = () => {
      reduceTo(0);
      this.#taken -= taken;
      taken = 0;
    };
    return { reduceTo, release };
  }

  /** Whether a job may fit once the jobs under way have ended. */
  async mayFitLater(bytes: number): Promise<boolean> {
    return (await this.#free()) + this.#taken >= bytes;
  }
}
