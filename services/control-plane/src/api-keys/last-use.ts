import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import { touchKey, type UsedKey } from './api-keys.store.ts';

/** Stores when keys were last used. Requests do not wait for it; a failure is only logged. */
export class LastUse {
  readonly #db: Database;
  readonly #logger: Logger;
  /** Keys whose use is being stored; concurrent requests do not store it again. */
  readonly #inProgress = new Set<string>();

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  /** Stores that the key is used now, at most once a minute. */
  record({ id, is_use_due }: Pick<UsedKey, 'id' | 'is_use_due'>): void {
    if (!is_use_due || this.#inProgress.has(id)) return;
    this.#inProgress.add(id);
    touchKey(this.#db, id)
      .catch((error) => this.#logger.warn('api_key.use_not_stored', { keyId: id, error }))
      .finally(() => this.#inProgress.delete(id));
  }
}
