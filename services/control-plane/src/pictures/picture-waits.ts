import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import { findPictures, type PictureKey, type PictureState } from './pictures.store.ts';

/** The time between two lookups of all pictures that requests wait for. After a commit of this process, it is shorter. */
const POLL_MS = 100;
const MIN_PAUSE_MS = 10;

type Wait = { key: PictureKey; until: number; end: (state: PictureState | undefined) => void };

/**
 * Waits for pictures. All waits share one query. It runs when this process has committed something, such as the result of an engine, and ten
 * times a second for results that other control planes have stored.
 */
export class PictureWaits {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #waits = new Set<Wait>();
  #wake = new AbortController();
  #isRunning = false;

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
  }

  /** Resolves with the state of a picture when that is not `preparing`, or after `limitMs`; undefined if the picture does not exist then. */
  end(key: PictureKey, limitMs: number): Promise<PictureState | undefined> {
    const { promise, resolve } = Promise.withResolvers<PictureState | undefined>();
    this.#waits.add({ key, until: Date.now() + limitMs, end: resolve });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Looks at once: a transaction of this process was committed. */
  wake(): void {
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waits.size > 0) {
      this.#wake = new AbortController();
      const { signal } = this.#wake;
      await this.#lookUp();
      await delay(MIN_PAUSE_MS);
      await delay(POLL_MS, undefined, { signal }).catch(() => {});
    }
    this.#isRunning = false;
  }

  async #lookUp(): Promise<void> {
    const waits = [...this.#waits];
    try {
      const states = await findPictures(
        this.#db,
        waits.map(({ key }) => key),
      );
      const byKey = new Map(states.map((state) => [keyOf(state), state]));
      for (const wait of waits) {
        const state = byKey.get(keyOf(wait.key));
        if (state?.status === 'preparing' && Date.now() < wait.until) continue;
        this.#waits.delete(wait);
        wait.end(state);
      }
    } catch (error) {
      // The next lookup may succeed; requests do not wait longer for it.
      this.#logger.debug('pictures.lookup_failed', { error });
      for (const wait of waits.filter(({ until }) => Date.now() >= until)) {
        this.#waits.delete(wait);
        wait.end({ ...wait.key, status: 'preparing', ageSeconds: 0, place: null });
      }
    }
  }
}

function keyOf({ videoId, name }: PictureKey): string {
  return `${videoId}/${name}`;
}
