/** The amount was not available within the time limit. */
export class AllotmentExhaustedError extends Error {
  override name = 'AllotmentExhaustedError';
}

/** A limited amount of something that concurrent requests share, first come, first served. */
export class Allotment {
  readonly #limit: number;
  readonly #waitMs: number;
  #taken = 0;
  readonly #waiting = new Set<{ amount: number; proceed: () => void }>();

  /** `waitMs` limits how long a request waits for its share. */
  constructor(limit: number, waitMs: number) {
    this.#limit = limit;
    this.#waitMs = waitMs;
  }

  /** What is taken at the moment. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes a share, at most the whole limit, and resolves with a function that returns it. Throws AllotmentExhaustedError when the
   * wait is too long.
   */
  async take(wanted: number): Promise<() => void> {
    const amount = Math.min(wanted, this.#limit);
    if (this.#waiting.size > 0 || this.#taken + amount > this.#limit) await this.#wait(amount);
    else this.#taken += amount;
    return () => this.#return(amount);
  }

  #wait(amount: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(turn);
        reject(new AllotmentExhaustedError('The amount was not available within the time limit'));
        // The next request may want less.
        this.#proceed();
      }, this.#waitMs);
      const proceed = () => {
        clearTimeout(timer);
        resolve();
      };
      const turn = { amount, proceed };
      this.#waiting.add(turn);
    });
  }

  #return(amount: number): void {
    this.#taken -= amount;
    this.#proceed();
  }

  #proceed(): void {
    for (const turn of this.#waiting) {
      if (this.#taken + turn.amount > this.#limit) return;
      this.#waiting.delete(turn);
      this.#taken += turn.amount;
      turn.proceed();
    }
  }
}
