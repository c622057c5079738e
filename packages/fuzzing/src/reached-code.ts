import type { Reached } from './block-coverage.ts';

/** The code that any input has reached. */
export class ReachedCode {
  readonly #files = new Map<string, Uint8Array>();
  #characters = 0;

  /** How many characters of code were reached. */
  get characters(): number {
    return this.#characters;
  }

  /** How many characters would be new. */
  newIn({ files }: Pick<Reached, 'files'>): number {
    let count = 0;
    for (const [url, characters] of files) {
      const known = this.#files.get(url);
      for (let at = 0; at < characters.length; at += 1)
        if (characters[at] === 1 && known?.[at] !== 1) count += 1;
    }
    return count;
  }

  /** Adds what was reached. Returns how many characters are new. */
  add({ files }: Pick<Reached, 'files'>): number {
    const before = this.#characters;
    for (const [url, characters] of files) this.#addTo(url, characters);
    return this.#characters - before;
  }

  #addTo(url: string, characters: Uint8Array): void {
    let known = this.#files.get(url);
    if (known === undefined || known.length < characters.length) {
      const longer = new Uint8Array(characters.length);
      longer.set(known ?? []);
      known = longer;
      this.#files.set(url, known);
    }
    for (const [at, ran] of characters.entries()) {
      if (ran === 0 || known[at] === 1) continue;
      known[at] = 1;
      this.#characters += 1;
    }
  }
}
