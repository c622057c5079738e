/** How far back the rate looks. */
const WINDOW_MS = 10_000;

/** Bytes per second of the last seconds, so that it follows a connection that becomes faster or slower. */
export class TransferRate {
  #samples: { at: number; sent: number }[] = [];

  /** Adds how much was sent at a time, and returns the rate; 0 while it is not known. */
  add(sent: number, at: number): number {
    this.#samples = [...this.#samples.filter((sample) => at - sample.at <= WINDOW_MS), { at, sent }];
    const first = this.#samples[0] ?? { at, sent };
    return at === first.at ? 0 : Math.max(0, ((sent - first.sent) * 1000) / (at - first.at));
  }
}
