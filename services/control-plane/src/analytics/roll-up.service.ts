import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Database } from '../db/database.ts';
import { createDayPartitions, dropDayPartitions } from '../db/day-partitions.ts';
import { ChangedDays } from './changed-days.ts';
import { countViewersOfLargeDay, sumUpLargeDay } from './large-days.ts';
import {
  type ChangedDay,
  type ChangedDayOfWorkspace,
  countViewers,
  deleteOldFigures,
  endChanges,
  endChangesOfWorkspaces,
  findChangedDays,
  findChangedDaysOfWorkspaces,
  rollUp,
} from './roll-up.store.ts';
import { deleteDiscarded } from './view-sessions.store.ts';
import { deleteOldSalts } from './visitors.store.ts';

/** Changed days that one query finds. */
const AT_ONCE = 100;

/** Days for which the reports of single playbacks are kept. Later reports are of yesterday at the earliest. */
const REPORT_DAYS = 3;

/**
 * Sums up what viewers have reported, and deletes what is old. Every step can be repeated, and can run twice at the same time. No statement reads more
 * than a slice of the reports; a day of a video, or of a workspace, that has more is summed up slice by slice.
 */
export class RollUpService {
  readonly #db: Database;
  readonly #retentionDays: number;
  readonly #videos: ChangedDays<ChangedDay>;
  readonly #workspaces: ChangedDays<ChangedDayOfWorkspace>;

  constructor({ db, retentionDays }: { db: Database; retentionDays: number }) {
    this.#db = db;
    this.#retentionDays = retentionDays;
    this.#videos = new ChangedDays({
      keyOf: ({ videoId, day }) => `${videoId} ${day}`,
      find: (after) => findChangedDays(db, { after, limit: AT_ONCE }),
      sumUp: async (days) => {
        await deleteDiscarded(db, days);
        await rollUp(db, days);
      },
      sumUpLarge: async (day) => {
        await deleteDiscarded(db, [day]);
        await sumUpLargeDay(db, day);
      },
      end: (days) => endChanges(db, days),
    });
    this.#workspaces = new ChangedDays({
      keyOf: ({ workspaceId, environment, day }) => `${workspaceId} ${environment} ${day}`,
      find: (after) => findChangedDaysOfWorkspaces(db, { after, limit: AT_ONCE }),
      sumUp: (days) => countViewers(db, days),
      sumUpLarge: (day) => countViewersOfLargeDay(db, day),
      end: (days) => endChangesOfWorkspaces(db, days),
    });
  }

  /**
   * Sums up the days that have changed: of videos, then of their workspaces, whose viewers are counted once a run, because that reads the reports of all
   * their videos. A day whose reports change meanwhile is summed up again in the next run. Rejects at the end if anything failed.
   */
  async rollUp(): Promise<void> {
    await forEachSettled([this.#videos, this.#workspaces], (changed) => changed.sumUp());
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
