import { batchesOf } from './batches.ts';

/** The most reports that one statement sums up: as many as take a fraction of its time limit. */
export const SLICE = 10_000;

/** A large day rests for so many times as long as it took, so that it takes a small part of the time of a connection. */
const REST_TIMES = 9;

/** How the changed days of videos, or of workspaces, are found and summed up. */
export type KindOfDay<Day> = {
  keyOf(day: Day): string;
  /** The next changed days in the order of their keys; none at the end. */
  find(after: Day | undefined): Promise<readonly Day[]>;
  /** Sums up days that have at most a slice of reports together. */
  sumUp(days: readonly Day[]): Promise<void>;
  /** Sums up a day that has more reports, slice by slice. */
  sumUpLarge(day: Day): Promise<void>;
  /** Ends the changes of days that were summed up, unless others have come. */
  end(days: readonly Day[]): Promise<void>;
};

/** Sums up what has changed. Large days come last and then rest, so that they do not delay the others. */
export class ChangedDays<Day extends { reports: number }> {
  readonly #kind: KindOfDay<Day>;
  readonly #now: () => number;
  /** Until when large days rest, by their key. */
  readonly #resting = new Map<string, number>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(kind: KindOfDay<Day>, now: () => number = () => performance.now()) {
    this.#kind = kind;
    this.#now = now;
  }

  /** Sums up all changed days that do not rest. A day that fails stays changed, and stops no other. Rejects at the end if anything failed. */
  async sumUp(): Promise<void> {
    this.#endRests();
    const errors: unknown[] = [];
    const large: Day[] = [];
    for (let after: Day | undefined; ; ) {
      const days = await this.#kind.find(after);
      after = days.at(-1);
      if (after === undefined) break;
      large.push(...days.filter((day) => isLarge(day) && !this.#resting.has(this.#kind.keyOf(day))));
      const small = days.filter((day) => !isLarge(day));
      for (const batch of batchesOf(small, ({ reports }) => reports, SLICE)) {
        errors.push(...(await this.#sumUpSmall(batch)));
      }
    }
    for (const day of large) errors.push(...(await this.#sumUpLarge(day)));
    if (errors.length > 0) throw new AggregateError(errors, 'Some figures failed', { cause: errors[0] });
  }

  /** Sums up a batch, or if that fails, one day after another. Resolves with the errors. */
  async #sumUpSmall(days: readonly Day[]): Promise<unknown[]> {
    try {
      await this.#kind.sumUp(days);
      await this.#kind.end(days);
      return [];
    } catch (error) {
      if (days.length === 1) return [error];
      const errors: unknown[] = [];
      for (const day of days) errors.push(...(await this.#sumUpSmall([day])));
      return errors;
    }
  }

  async #sumUpLarge(day: Day): Promise<unknown[]> {
    const start = this.#now();
    try {
      await this.#kind.sumUpLarge(day);
      await this.#kind.end([day]);
      return [];
    } catch (error) {
      return [error];
    } finally {
      const end = this.#now();
      this.#resting.set(this.#kind.keyOf(day), end + REST_TIMES * (end - start));
    }
  }

  #endRests(): void {
    const now = this.#now();
    for (const [key, until] of this.#resting) if (until <= now) this.#resting.delete(key);
  }
}

/** Whether there are more reports than one statement reads. */
export function isLarge({ reports }: { reports: number }): boolean {
  return reports > SLICE;
}
