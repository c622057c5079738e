import { setImmediate as turn } from 'node:timers/promises';

/**
 * Has calls of the same moment share one lookup. It begins when whatever has come in by then has been read, and later calls
 * begin another: nobody is told what was so before they asked.
 */
export class SharedLookups<T> {
  readonly #notBegun = new Map<string, Promise<T>>();

  /** Looks up, or waits for the lookup of the same name that is about to begin. */
  get(name: string, look: () => Promise<T>): Promise<T> {
    const shared = this.#notBegun.get(name) ?? this.#begin(name, look);
    this.#notBegun.set(name, shared);
    return shared;
  }

  async #begin(name: string, look: () => Promise<T>): Promise<T> {
    await turn();
    this.#notBegun.delete(name);
    return look();
  }
}
