import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import { touchKey, type UsedKey } from './api-keys.store.ts';

/** Records `lastUsedAt` of the keys. No request waits for it. A failure is only logged. */
export class LastUse {
  readonly #db: Database;
  readonly #logger: Logger;
  /** Keys whose use is being recorded: concurrent requests need not record it again. */
  readonly #inProgress = new Set<string>();

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  /** Records that the key is used now, unless a use was recorded in the last minute. */
  record({ id, is_use_due }: Pick<UsedKey, 'id' | 'is_use_due'>): void {
    if (!is_use_due || this.#inProgress.has(id)) return;
    this.#inProgress.add(id);
    touchKey(this.#db, id)
      .catch((error) => this.#logger.warn('api_key.use_not_recorded', { keyId: id, error }))
      .finally(() => this.#inProgress.delete(id));
  }
}
