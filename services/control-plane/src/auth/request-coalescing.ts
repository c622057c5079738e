import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Request coalescing: lookups of one name that are requested in the same turn of the event loop share one query. A query
 * starts after every request that shares it, so no caller gets a result from before its request.
 */
export class RequestCoalescing<T> {
  readonly #notStarted = new Map<string, Promise<T>>();

  /** Calls `lookUp` in the next turn, or shares the call of the same name that has not started yet. */
  get(name: string, lookUp: () => Promise<T>): Promise<T> {
    const shared = this.#notStarted.get(name) ?? this.#start(name, lookUp);
    this.#notStarted.set(name, shared);
    return shared;
  }

  async #start(name: string, lookUp: () => Promise<T>): Promise<T> {
    await nextTurn();
    this.#notStarted.delete(name);
    return lookUp();
  }
}
