/** Disk space reserved for a job. */
export type Reservation = {
  /** Reduces the reservation: the other bytes have been written by now. */
  reduceTo(bytes: number): void;
  release(): void;
};

/** Reservations of the disk that jobs write to. */
export class DiskReservations {
  readonly #free: () => Promise<number>;
  readonly #makeRoom: () => Promise<boolean>;
  #reserved = 0;
  /** Bytes that running jobs reserved at their start. They are free again when the jobs end. */
  #held = 0;

  /**
   * @param free bytes that jobs may still write; below zero if the reserve of the disk is in use
   * @param makeRoom deletes a file that no job needs, and resolves with whether there was one
   */
  constructor(free: () => Promise<number>, makeRoom: () => Promise<boolean> = async () => false) {
    this.#free = free;
    this.#makeRoom = makeRoom;
  }

  /**
   * Whether there is disk space for a small job. Reservations do not count: the part of a source that is already fetched
   * would count twice.
   */
  async hasDiskSpace(): Promise<boolean> {
    while ((await this.#free()) < 0) if (!(await this.#makeRoom())) return false;
    return true;
  }

  /** Reserves bytes for a job; null if there are not enough. */
  async reserve(bytes: number): Promise<Reservation | null> {
    // No `await` between check and reservation: they must not be interleaved with those of another job.
    while ((await this.#free()) - this.#reserved < bytes) if (!(await this.#makeRoom())) return null;
    let left = bytes;
    let held = bytes;
    this.#reserved += left;
    this.#held += held;
    const reduceTo = (next: number) => {
      this.#reserved -= left - next;
      left = next;
    };
    const release = () => {
      reduceTo(0);
      this.#held -= held;
      held = 0;
    };
    return { reduceTo, release };
  }

  /** Whether there may be enough disk space when the running jobs have ended. */
  async mayFitLater(bytes: number): Promise<boolean> {
    return (await this.#free()) + this.#held >= bytes;
  }
}
