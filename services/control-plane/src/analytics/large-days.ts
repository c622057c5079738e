import type { Database } from '../db/database.ts';
import { batchesOf } from './batches.ts';
import { isLarge, SLICE } from './changed-days.ts';
import { addFigures, type FiguresOfReports } from './figures-of-day.ts';
import {
  type ChangedDay,
  type DayOfVideo,
  type DayOfWorkspace,
  findVisitors,
  findVisitorsOfSlice,
  findWatchedVideos,
  storeSums,
  storeViewerCount,
  sumSlice,
} from './roll-up.store.ts';
import { ViewerSample } from './viewer-sample.ts';

/** Videos of a workspace that one query finds. */
const AT_ONCE = 100;

/** Sums up a day of a video that has more reports than a slice. */
export async function sumUpLargeDay(db: Database, day: ChangedDay): Promise<void> {
  const viewers = new ViewerSample();
  let figures: FiguresOfReports | undefined;
  for await (const slice of slices((after) => sumSlice(db, day, after))) {
    viewers.add(slice.visitors ?? Buffer.alloc(0));
    figures = figures === undefined ? slice : addFigures(figures, slice);
  }
  if (figures !== undefined) await storeSums(db, day, figures, viewers.count);
}

/** Counts the viewers of a day of a workspace that has more reports than a slice. */
export async function countViewersOfLargeDay(db: Database, day: DayOfWorkspace): Promise<void> {
  const viewers = new ViewerSample();
  for (let after = ''; ; ) {
    const videos = await findWatchedVideos(db, day, { after, limit: AT_ONCE });
    after = videos.at(-1)?.videoId ?? '';
    if (after === '') break;
    for (const batch of batchesOf(videos, ({ reports }) => reports, SLICE)) {
      await addVisitors(db, viewers, batch);
    }
  }
  await storeViewerCount(db, day, viewers.count);
}

async function addVisitors(db: Database, viewers: ViewerSample, days: readonly DayOfVideo[]): Promise<void> {
  const [large] = days.filter(isLarge);
  if (large === undefined) return viewers.add(await findVisitors(db, days));
  for await (const { visitors } of slices((after) => findVisitorsOfSlice(db, large, after))) {
    viewers.add(visitors ?? Buffer.alloc(0));
  }
}

/** The slices of a day, one after the other. */
async function* slices<Slice extends { reports: number; last: string }>(
  read: (after: string | undefined) => Promise<Slice | undefined>,
): AsyncGenerator<Slice, void> {
  for (let after: string | undefined; ; ) {
    const slice = await read(after);
    if (slice === undefined) return;
    yield slice;
    if (slice.reports < SLICE) return;
    after = slice.last;
  }
}
