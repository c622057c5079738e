import { type Database, databaseTime } from './database.ts';

/** Returns the time of the database, which control planes show and compare. */
export type Clock = { now(): Date };

/** A reading that took longer is used only if there is no other. */
const LONGEST_READING_MS = 1_000;

/**
 * The time by the clock of the database (ADR 62). All control planes show and compare this time, because their own clocks may be wrong.
 * Between two readings a monotonic clock counts on.
 */
export class DatabaseClock implements Clock {
  readonly #db: Database;
  #reading: { timeMs: number; atMs: number } | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The present time. Before the first reading it is that of this machine. */
  now(): Date {
    if (this.#reading === undefined) return new Date();
    return new Date(this.#reading.timeMs + performance.now() - this.#reading.atMs);
  }

  /** Reads the clock. Rejects when the database is unavailable. */
  async read(): Promise<void> {
    const begunMs = performance.now();
    const time = await databaseTime(this.#db);
    const tookMs = performance.now() - begunMs;
    if (this.#reading !== undefined && tookMs > LONGEST_READING_MS) return;
    this.#reading = { timeMs: time.getTime(), atMs: begunMs + tookMs / 2 };
  }
}
