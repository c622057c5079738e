import { AsyncLocalStorage } from 'node:async_hooks';

/** The process whose code runs. Timers, promises and events keep it. */
const current = new AsyncLocalStorage<SimulatedProcess>();

/**
 * A process of the system under test: code that runs in its context. Once killed, nothing that it waits for ever happens: its timers do not
 * fire, and its requests, statements and messages get no response.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly #onKill: (() => Promise<void> | void)[] = [];
  #isAlive = true;

  constructor(name: string) {
    this.name = name;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs code as this process. */
  run<T>(work: () => T): T {
    return current.run(this, work);
  }

  /** Runs code of another system when this process is killed, or now if it was: connections close, messages return to their queues. */
  onKill(effect: () => Promise<void> | void): void {
    if (this.#isAlive) this.#onKill.push(effect);
    else void effect();
  }

  async kill(): Promise<void> {
    this.#isAlive = false;
    for (const effect of this.#onKill) await effect();
  }
}

/** The process whose code calls; undefined for code of the simulation. */
export function currentProcess(): SimulatedProcess | undefined {
  return current.getStore();
}

/** Settles as the promise does, unless the process is killed first: then never. */
export function whileAlive<T>(promise: Promise<T>, process = currentProcess()): Promise<T> {
  if (process === undefined) return promise;
  return new Promise((resolve, reject) => {
    promise.then(
      (value) => process.isAlive && resolve(value),
      (error: unknown) => process.isAlive && reject(error),
    );
  });
}
