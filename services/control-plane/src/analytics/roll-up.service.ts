import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Database } from '../db/database.ts';
import { createDayPartitions, dropDayPartitions } from '../db/day-partitions.ts';
import { batchesOf } from './batches.ts';
import { addFigures, type FiguresOfReports } from './figures-of-day.ts';
import {
  type ChangedDay,
  countViewers,
  type DayOfVideo,
  type DayOfWorkspace,
  deleteOldFigures,
  endChanges,
  findChangedDays,
  findDaysOfWorkspaces,
  findVisitors,
  findVisitorsOfSlice,
  findWatchedVideos,
  rollUp,
  SLICE,
  storeSums,
  storeViewerCount,
  sumSlice,
} from './roll-up.store.ts';
import { deleteDiscarded } from './view-sessions.store.ts';
import { ViewerSample } from './viewer-sample.ts';
import { deleteOldSalts } from './visitors.store.ts';

/** Days of videos that one round sums up. */
const AT_ONCE = 100;

/** Days for which the reports of single playbacks are kept. Later reports are of yesterday at the earliest. */
const REPORT_DAYS = 3;

/** A day that is summed up in slices rests for so many times as long as that took, so that it takes a small part of the processor time. */
const REST_TIMES = 9;

/**
 * Sums up what viewers have reported, and deletes what is old. Every step can be repeated, and can run twice at the same time. No statement reads more
 * than a slice of the reports; a day of a video, or of a workspace, that has more is summed up slice by slice.
 */
export class RollUpService {
  readonly #db: Database;
  readonly #retentionDays: number;
  /** Until when large days rest, by their key, in milliseconds of `performance.now`. */
  readonly #resting = new Map<string, number>();

  constructor({ db, retentionDays }: { db: Database; retentionDays: number }) {
    this.#db = db;
    this.#retentionDays = retentionDays;
  }

  /**
   * Sums up the days that have changed. A day whose reports change meanwhile is summed up again in the next run. The viewers of a workspace are counted
   * once a run, because that reads the reports of all its videos. A day that fails stays changed and does not stop the others. Rejects at the end if
   * anything failed.
   */
  async rollUp(): Promise<void> {
    this.#endRests();
    const rolledUp: ChangedDay[] = [];
    const errors: unknown[] = [];
    for (let after: ChangedDay | undefined; ; ) {
      const days = await findChangedDays(this.#db, { after, limit: AT_ONCE });
      after = days.at(-1);
      if (after === undefined) break;
      await deleteDiscarded(this.#db, days);
      const due = days.filter((day) => !this.#resting.has(keyOf(day)));
      for (const batch of batchesOf(due, ({ reports }) => reports, SLICE)) {
        rolledUp.push(...(await thatSucceed(batch, (some) => this.#rollUpBatch(some), errors)));
      }
    }
    const failed = new Set<string>();
    for (const batch of batchesOf(
      await findDaysOfWorkspaces(this.#db, rolledUp),
      ({ reports }) => reports,
      SLICE,
    )) {
      const done = await thatSucceed(batch, (some) => this.#countBatch(some), errors);
      for (const day of batch) if (!done.includes(day)) failed.add(`${day.workspaceId} ${day.day}`);
    }
    await endChanges(
      this.#db,
      rolledUp.filter(({ workspaceId, day }) => !failed.has(`${workspaceId} ${day}`)),
    );
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

  #endRests(): void {
    const now = performance.now();
    for (const [key, until] of this.#resting) if (until <= now) this.#resting.delete(key);
  }

  async #rollUpBatch(days: readonly DayOfVideo[]): Promise<void> {
    const [large] = days.filter(isLarge);
    if (large === undefined) return rollUp(this.#db, days);
    const start = performance.now();
    await this.#rollUpLarge(large);
    const end = performance.now();
    this.#resting.set(keyOf(large), end + REST_TIMES * (end - start));
  }

  async #rollUpLarge(day: DayOfVideo): Promise<void> {
    const viewers = new ViewerSample();
    let figures: FiguresOfReports | undefined;
    for (let after: string | undefined; ; ) {
      const slice = await sumSlice(this.#db, day, after);
      if (slice === undefined) break;
      viewers.add(slice.visitors ?? Buffer.alloc(0));
      figures = figures === undefined ? slice : addFigures(figures, slice);
      after = slice.last;
      if (slice.reports < SLICE) break;
    }
    if (figures !== undefined) await storeSums(this.#db, day, figures, viewers.count);
  }

  async #countBatch(days: readonly DayOfWorkspace[]): Promise<void> {
    const [large] = days.filter(isLarge);
    if (large === undefined) return countViewers(this.#db, days);
    const viewers = new ViewerSample();
    for (let after = ''; ; ) {
      const videos = await findWatchedVideos(this.#db, large, { after, limit: AT_ONCE });
      after = videos.at(-1)?.videoId ?? '';
      if (after === '') break;
      for (const batch of batchesOf(videos, ({ reports }) => reports, SLICE)) {
        await this.#addVisitors(viewers, batch);
      }
    }
    await storeViewerCount(this.#db, large, viewers.count);
  }

  async #addVisitors(viewers: ViewerSample, days: readonly DayOfVideo[]): Promise<void> {
    const [large] = days.filter(isLarge);
    if (large === undefined) return viewers.add(await findVisitors(this.#db, days));
    for (let after: string | undefined; ; ) {
      const slice = await findVisitorsOfSlice(this.#db, large, after);
      if (slice === undefined) return;
      viewers.add(slice.visitors ?? Buffer.alloc(0));
      after = slice.last;
    }
  }
}

/** Whether there are more reports than one statement reads. Such a day is a batch of its own. */
function isLarge({ reports }: { reports: number }): boolean {
  return reports > SLICE;
}

function keyOf({ videoId, day }: DayOfVideo): string {
  return `${videoId} ${day}`;
}

/** Does the work for a batch, or if that fails, for one after another. Resolves with those that succeeded, and adds the errors of the others. */
async function thatSucceed<Day>(
  batch: readonly Day[],
  work: (days: readonly Day[]) => Promise<void>,
  errors: unknown[],
): Promise<readonly Day[]> {
  try {
    await work(batch);
    return batch;
  } catch {
    const done: Day[] = [];
    for (const day of batch) {
      await work([day]).then(
        () => done.push(day),
        (error: unknown) => errors.push(error),
      );
    }
    return done;
  }
}
