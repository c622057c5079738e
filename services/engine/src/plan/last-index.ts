/** Finds the last of many values below a limit, in logarithmic time. The values may be in any order. */
export class LastIndex {
  /** For each value, the lowest of it and all later ones: these ascend. */
  readonly #lowest: Float64Array;

  constructor(values: readonly number[]) {
    this.#lowest = Float64Array.from(values);
    this.#lowest.reduceRight((least, value, at) => {
      const lowest = Math.min(least, value);
      this.#lowest[at] = lowest;
      return lowest;
    }, Number.POSITIVE_INFINITY);
  }

  /** The index of the last value below the limit; -1 if there is none. */
  below(limit: number): number {
    return this.#last((value) => value < limit);
  }

  /** The index of the last value that is at most the limit; -1 if there is none. */
  atMost(limit: number): number {
    return this.#last((value) => value <= limit);
  }

  #last(isWithin: (value: number) => boolean): number {
    let [from, to] = [0, this.#lowest.length];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if (isWithin(this.#lowest[middle] ?? Number.NaN)) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }
}
