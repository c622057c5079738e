import type { DownloadName } from '@framelane/contracts/outputs/download';
import { AUDIO_RENDITIONS, RUNGS, type TrackRendition } from '@framelane/contracts/renditions';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { DownloadRow } from '../db/schema.ts';

/** Why a download could not be made. */
export type DownloadFailure = { code: NonNullable<DownloadRow['error_code']>; message: string };

/** The downloads that are being prepared, in the order in which they were asked for. */
export async function findPreparing(db: Database, videoId: string): Promise<DownloadName[]> {
  const rows = await db
    .selectFrom('downloads')
    .select('name')
    .where('video_id', '=', videoId)
    .where('status', '=', 'preparing')
    .orderBy('created_at')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/** The status of each download of a video. */
export async function findStatuses(
  db: Database,
  videoId: string,
): Promise<Map<DownloadName, DownloadRow['status']>> {
  const rows = await db
    .selectFrom('downloads')
    .select(['name', 'status'])
    .where('video_id', '=', videoId)
    .execute();
  return new Map(rows.map(({ name, status }) => [name, status]));
}

/** Stores that these downloads are being prepared. Those that failed before are prepared again. */
export async function savePreparing(
  trx: Database,
  videoId: string,
  names: readonly DownloadName[],
): Promise<void> {
  if (names.length === 0) return;
  await trx
    .insertInto('downloads')
    .values(names.map((name) => ({ video_id: videoId, name })))
    .onConflict((conflict) =>
      conflict
        .columns(['video_id', 'name'])
        .doUpdateSet({ status: 'preparing', error_code: null, error_message: null, ready_at: null }),
    )
    .execute();
}

/** Stores that a download is ready. Resolves with whether it was being prepared. */
export function saveReady(trx: Database, videoId: string, name: DownloadName): Promise<boolean> {
  return end(trx, videoId, name, { status: 'ready', ready_at: sql<Date>`now()` });
}

/** Stores why a download could not be made. Resolves with whether it was being prepared. */
export function saveFailed(
  trx: Database,
  videoId: string,
  name: DownloadName,
  { code, message }: DownloadFailure,
): Promise<boolean> {
  return end(trx, videoId, name, { status: 'failed', error_code: code, error_message: message });
}

async function end(
  trx: Database,
  videoId: string,
  name: DownloadName,
  values: Partial<Pick<DownloadRow, 'status' | 'error_code' | 'error_message'>> & { ready_at?: unknown },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('downloads')
    .set(values as object)
    .where('video_id', '=', videoId)
    .where('name', '=', name)
    .where('status', '=', 'preparing')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** The names of the H.264 renditions of a video, lowest first, and those of its audio tracks, the default one first. */
export async function findTrackNames(
  db: Database,
  videoId: string,
): Promise<{ video: TrackRendition[]; audio: TrackRendition[] }> {
  const rows = await db.selectFrom('renditions').select('name').where('video_id', '=', videoId).execute();
  const names = new Set<string>(rows.map(({ name }) => name));
  return {
    video: RUNGS.filter((name) => names.has(name)),
    audio: AUDIO_RENDITIONS.filter((name) => names.has(name)),
  };
}

/** The start in seconds and the title of each chapter of a video, by increasing start. */
export async function findChapterStarts(
  db: Database,
  videoId: string,
): Promise<{ start: number; title: string }[]> {
  const row = await db
    .selectFrom('chapters')
    .select(['starts', 'titles'])
    .where('video_id', '=', videoId)
    .executeTakeFirst();
  return (row?.starts ?? []).map((start, at) => ({ start: start / 1000, title: row?.titles[at] ?? '' }));
}
