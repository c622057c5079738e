import type { Database } from '../db/database.ts';
import {
  type ChangedDay,
  countViewers,
  deleteOldFigures,
  endChanges,
  findChangedDays,
  rollUp,
} from './roll-up.store.ts';
import { createPartitions, dropPartitions } from './view-sessions.store.ts';
import { deleteOldSalts } from './visitors.store.ts';

/** Days of videos that one round sums up. */
const AT_ONCE = 100;

/** Days for which the reports of single playbacks are kept. Later reports are of yesterday at the earliest. */
const REPORT_DAYS = 3;

/** Sums up what viewers have reported, and deletes what is old. Every step can be repeated, and can run twice at the same time. */
export class RollUpService {
  readonly #db: Database;
  readonly #retentionDays: number;

  constructor({ db, retentionDays }: { db: Database; retentionDays: number }) {
    this.#db = db;
    this.#retentionDays = retentionDays;
  }

  /** Sums up the days that have changed. A day whose reports change meanwhile is summed up again in the next run. */
  async rollUp(): Promise<void> {
    let last: ChangedDay | undefined;
    for (;;) {
      const days = await findChangedDays(this.#db, { after: last, limit: AT_ONCE });
      last = days.at(-1);
      if (last === undefined) return;
      await rollUp(this.#db, days);
      await countViewers(this.#db, days);
      await endChanges(this.#db, days);
    }
  }

  /** Creates the tables of the next days, and deletes reports, salts and figures that are too old. */
  async keepDays(): Promise<void> {
    await createPartitions(this.#db);
    await deleteOldSalts(this.#db);
    await this.rollUp();
    await dropPartitions(this.#db, REPORT_DAYS);
    await deleteOldFigures(this.#db, this.#retentionDays);
  }
}
