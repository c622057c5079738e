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

  /**
   * Sums up the days that have changed. A day whose reports change meanwhile is summed up again in the next run. The viewers of a workspace are counted
   * once a run, because that reads the reports of all its videos.
   */
  async rollUp(): Promise<void> {
    const rolledUp: ChangedDay[] = [];
    for (;;) {
      const days = await findChangedDays(this.#db, { after: rolledUp.at(-1), limit: AT_ONCE });
      if (days.length === 0) break;
      await rollUp(this.#db, days);
      rolledUp.push(...days);
    }
    if (rolledUp.length === 0) return;
    await countViewers(this.#db, rolledUp);
    await endChanges(this.#db, rolledUp);
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
