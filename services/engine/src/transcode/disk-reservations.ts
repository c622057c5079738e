/** Disk space reserved for a job. */
export type Reservation = {
  /** Changes the reservation: less when bytes have been written, or another number when the job turns out to be another one. */
  changeTo(bytes: number): void;
  release(): void;
};

/** Reservations of the disk that jobs write to. */
export class DiskReservations {
  readonly #free: () => Promise<number>;
  readonly #makeRoom: () => Promise<boolean>;
  #reserved = 0;

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
    this.#reserved += left;
    const changeTo = (next: number) => {
      this.#reserved -= left - next;
      left = next;
    };
    return { changeTo, release: () => changeTo(0) };
  }
}
