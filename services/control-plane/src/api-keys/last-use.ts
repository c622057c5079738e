import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import type { ApiKeyRow } from '../db/schema.ts';
import { touchKey } from './api-keys.store.ts';

/** A use is noted this often at most, in seconds. */
const INTERVAL_SECONDS = 60;

/** Keeps `lastUsedAt` of the keys. No request waits for it, and a note that fails is only logged. */
export class LastUse {
  readonly #db: Database;
  readonly #logger: Logger;
  /** Keys whose note is being written: the requests of that moment need no other. */
  readonly #underWay = new Set<string>();

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  /** Notes that the key is used now. */
  note({ id, last_used_at: last }: Pick<ApiKeyRow, 'id' | 'last_used_at'>): void {
    const noted = last !== null && Date.now() - last.getTime() < INTERVAL_SECONDS * 1000;
    if (noted || this.#underWay.has(id)) return;
    this.#underWay.add(id);
    touchKey(this.#db, id, INTERVAL_SECONDS)
      .catch((error) => this.#logger.warn('api_key.use_not_noted', { keyId: id, error }))
      .finally(() => this.#underWay.delete(id));
  }
}
