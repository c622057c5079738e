import type { SealingKeys } from '@framelane/contracts/sealing';
import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import {
  countOthers,
  findSealed,
  nextHeader,
  replaceSealed,
  type SealedColumn,
  type SealedValue,
} from './sealed-values.store.ts';

/** Values that one query reads. */
const BATCH = 100;

/** The numbers of values to reseal, by kind. */
export type Pending = { contentKeys: number; webhookSecrets: number; importRequests: number };

/** The numbers of values that the current secret had not sealed. */
type Tally = { resealed: number; unreadable: number };

/**
 * Reseals values with the current secret, so that the previous secrets can be removed. Each value is replaced in its own
 * statement, and only if it has not changed. So a run can be interrupted, repeated, and run at the same time as others.
 */
export class ResealingService {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #columns: readonly (SealedColumn & { keys: SealingKeys })[];

  constructor(deps: {
    db: Database;
    logger: Logger;
    contentKeys: SealingKeys;
    webhookKeys: SealingKeys;
    importKeys: SealingKeys;
  }) {
    this.#db = deps.db;
    this.#logger = deps.logger;
    this.#columns = [
      { table: 'videos', id: 'id', column: 'content_key', keys: deps.contentKeys },
      { table: 'webhook_endpoints', id: 'id', column: 'secret', keys: deps.webhookKeys },
      { table: 'webhook_endpoints', id: 'id', column: 'previous_secret', keys: deps.webhookKeys },
      { table: 'imports', id: 'video_id', column: 'request', keys: deps.importKeys },
    ];
  }

  /** Reseals every value that the current secret did not seal. Logs how many values no secret can decrypt, and does not change them. */
  async reseal(): Promise<void> {
    const tally: Tally = { resealed: 0, unreadable: 0 };
    for (const column of this.#columns) {
      let header = await nextHeader(this.#db, column, '');
      while (header !== undefined) {
        if (header !== column.keys.header) await this.#resealAll(column, header, tally);
        header = await nextHeader(this.#db, column, header);
      }
    }
    const { resealed, unreadable } = tally;
    if (resealed > 0) this.#logger.info('secrets.resealed', { values: resealed });
    if (unreadable > 0) this.#logger.error('secrets.unreadable', { values: unreadable });
  }

  /** How many values the current secret did not seal. */
  async pending(): Promise<Pending> {
    const pending = { videos: 0, webhook_endpoints: 0, imports: 0 };
    for (const column of this.#columns) {
      pending[column.table] += await countOthers(this.#db, column, column.keys.header);
    }
    return {
      contentKeys: pending.videos,
      webhookSecrets: pending.webhook_endpoints,
      importRequests: pending.imports,
    };
  }

  async #resealAll(
    column: SealedColumn & { keys: SealingKeys },
    header: string,
    tally: Tally,
  ): Promise<void> {
    let afterId = '';
    for (;;) {
      const values = await findSealed(this.#db, column, { header, afterId, limit: BATCH });
      for (const value of values) await this.#resealOne(column, value, tally);
      const last = values.at(-1);
      if (last === undefined) return;
      afterId = last.id;
    }
  }

  async #resealOne(
    column: SealedColumn & { keys: SealingKeys },
    value: SealedValue,
    tally: Tally,
  ): Promise<void> {
    const opened = await column.keys.open(value.sealed).catch(() => undefined);
    if (opened === undefined) {
      tally.unreadable += 1;
      return;
    }
    const resealed = await column.keys.seal(opened);
    if (await replaceSealed(this.#db, column, value, resealed)) tally.resealed += 1;
  }
}
