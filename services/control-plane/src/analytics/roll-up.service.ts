import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Database } from '../db/database.ts';
import { createDayPartitions, dropDayPartitions } from '../db/day-partitions.ts';
import {
  type ChangedDay,
  countViewers,
  deleteOldFigures,
  endChanges,
  findChangedDays,
  rollUp,
} from './roll-up.store.ts';
import { deleteDiscarded } from './view-sessions.store.ts';
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
   * once a run, because that reads the reports of all its videos. A day that fails, as one with too many reports for the time limit of a statement, stays
   * changed and does not stop the others. Rejects at the end if anything failed.
   */
  async rollUp(): Promise<void> {
    const rolledUp: ChangedDay[] = [];
    const errors: unknown[] = [];
    for (let after: ChangedDay | undefined; ; ) {
      const days = await findChangedDays(this.#db, { after, limit: AT_ONCE });
      after = days.at(-1);
      if (after === undefined) break;
      await deleteDiscarded(this.#db, days);
      const work = (some: ChangedDay[]) => rollUp(this.#db, some);
      rolledUp.push(...(await thatSucceed(Map.groupBy(days, keyOf), work, errors)));
    }
    if (rolledUp.length > 0) {
      const work = (some: ChangedDay[]) => countViewers(this.#db, some);
      const ofWorkspaces = Map.groupBy(rolledUp, ({ workspaceId }) => workspaceId);
      await endChanges(this.#db, await thatSucceed(ofWorkspaces, work, errors));
    }
    if (errors.length > 0) throw new AggregateError(errors, 'Some figures failed', { cause: errors[0] });
  }

  /**
   * Creates the tables of the next days, and deletes reports, salts and figures that are too old. What is old is deleted even if something before
   * failed.
   */
  async keepDays(): Promise<void> {
    const steps = [
      () => createDayPartitions(this.#db, 'view_sessions'),
      () => deleteOldSalts(this.#db),
      () => this.rollUp(),
      () => dropDayPartitions(this.#db, 'view_sessions', REPORT_DAYS),
      () => deleteOldFigures(this.#db, this.#retentionDays),
    ];
    await forEachSettled(steps, (step) => step());
  }
}

function keyOf({ videoId, day }: ChangedDay): string {
  return `${videoId} ${day}`;
}

/** Does the work for all groups at once, or if that fails, for one after another. Resolves with those that succeeded, and adds the errors of the others. */
async function thatSucceed(
  groups: ReadonlyMap<unknown, ChangedDay[]>,
  work: (days: ChangedDay[]) => Promise<void>,
  errors: unknown[],
): Promise<ChangedDay[]> {
  const all = [...groups.values()];
  try {
    await work(all.flat());
    return all.flat();
  } catch {
    const done: ChangedDay[] = [];
    for (const days of all) {
      await work(days).then(
        () => done.push(...days),
        (error: unknown) => errors.push(error),
      );
    }
    return done;
  }
}
