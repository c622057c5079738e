/**
 * Stores every few seconds what is counted in memory, by one write at a time. `write` takes everything that waits, and handles its errors: it must not
 * reject.
 */
export class PeriodicWrite {
  readonly #write: () => Promise<void>;
  readonly #seconds: number;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: () => Promise<void>, seconds: number) {
    this.#write = write;
    this.#seconds = seconds;
  }

  start(): void {
    this.#timer = setInterval(() => {
      // While the database is slow, writes must not queue up.
      if (this.#waiting === 0) void this.flush();
    }, this.#seconds * 1000);
  }

  /** Resolves after an attempt to store everything that was counted before the call. */
  flush(): Promise<void> {
    this.#waiting += 1;
    this.#last = this.#last.then(this.#write).finally(() => {
      this.#waiting -= 1;
    });
    return this.#last;
  }

  /** Stores what remains. Call it when nothing more is counted. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
