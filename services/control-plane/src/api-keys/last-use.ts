import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import { touchKey, type UsedKey } from './api-keys.store.ts';

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

  /** Notes that the key is used now, if no use was noted in the last minute. */
  note({ id, is_use_due }: Pick<UsedKey, 'id' | 'is_use_due'>): void {
    if (!is_use_due || this.#underWay.has(id)) return;
    this.#underWay.add(id);
    touchKey(this.#db, id)
      .catch((error) => this.#logger.warn('api_key.use_not_recorded', { keyId: id, error }))
      .finally(() => this.#underWay.delete(id));
  }
}
