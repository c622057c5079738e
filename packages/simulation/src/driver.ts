import { RealOperations } from './real-operations.ts';
import type { ScheduledDatabase } from './scheduled-database.ts';
import { realTime } from './virtual-time.ts';
import type { World } from './world.ts';

/** Turns of the event loop without an operation, after which nothing happens any more. */
const QUIET_TURNS = 3;

/** Lets the time pass: whenever nothing can happen any more at this moment, the next timer fires. */
export class Driver {
  readonly #world: World;
  readonly #database: ScheduledDatabase;
  /** Real work of the simulation itself. */
  #outside = 0;
  readonly #operations = new RealOperations();

  constructor(world: World, database: ScheduledDatabase) {
    this.#world = world;
    this.#database = database;
    this.#operations.install();
  }

  /** Runs real work while the virtual time stands still. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    this.#outside += 1;
    try {
      return await work();
    } finally {
      this.#outside -= 1;
    }
  }

  /** Lets the time pass until the scenario has ended. */
  async drive<T>(scenario: Promise<T>): Promise<T> {
    let hasEnded = false;
    const ended = scenario.finally(() => {
      hasEnded = true;
    });
    ended.catch(() => {});
    for (;;) {
      await this.#settle();
      if (hasEnded) return ended;
      if (!this.#world.time.next())
        throw new Error('Nothing can happen any more, but the scenario has not ended');
    }
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      await turn();
      await this.#database.settle();
      quiet = this.#isBusy() ? 0 : quiet + 1;
    }
  }

  #isBusy(): boolean {
    return this.#outside > 0 || this.#operations.areInProgress;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => realTime.setImmediate(resolve));
}
