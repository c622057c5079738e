/**
 * A test sequencer of jest for files in a given order. Files that are not listed come last. A long file at the end would run alone, and by
 * itself jest takes the largest files for the longest, unless it has run them before on the same machine.
 */
export class LongestFirst {
  #names;

  /** @param names ends of paths without extensions, such as `transcode/pieces`; the longest file first */
  constructor(names) {
    this.#names = names;
  }

  sort(tests) {
    return tests.toSorted((a, b) => this.#rank(a) - this.#rank(b));
  }

  /** Jest would store durations, which a new machine does not have. */
  cacheResults() {}

  #rank({ path }) {
    const index = this.#names.findIndex((name) => path.includes(`/${name}.`));
    return index === -1 ? this.#names.length : index;
  }
}
