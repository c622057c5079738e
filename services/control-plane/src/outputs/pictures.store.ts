import { AWAITED_RENDITIONS, type VideoRendition } from '@framelane/contracts/renditions';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { livingVideo } from '../db/living-video.ts';
import type { PicturedRendition, PicturedVideo } from './picture-plan.ts';

/** What pictures of a ready video depend on; undefined for any other video. */
export async function findPicturedVideo(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<PicturedVideo | undefined> {
  const row = await livingVideo(db, workspaceId, videoId)
    .where('videos.status', '=', 'ready')
    .select([
      'duration',
      sql<PicturedRendition[]>`(
        select coalesce(json_agg(json_build_object('name', name, 'width', width, 'height', height, 'frameRate', frame_rate)), '[]')
        from renditions where video_id = videos.id and frame_rate is not null and name = any(${AWAITED_RENDITIONS})
      )`.as('renditions'),
    ])
    .executeTakeFirst();
  if (row === undefined || row.duration === null) return undefined;
  const order = ({ name }: PicturedRendition) => AWAITED_RENDITIONS.indexOf(name);
  return { duration: row.duration, renditions: row.renditions.sort((a, b) => order(a) - order(b)) };
}

/** The seconds of each segment of a rendition. */
export async function findSegmentDurations(
  db: Database,
  videoId: string,
  rendition: VideoRendition,
): Promise<number[]> {
  const row = await db
    .selectFrom('renditions')
    .select('segment_durations')
    .where('video_id', '=', videoId)
    .where('name', '=', rendition)
    .executeTakeFirstOrThrow();
  return row.segment_durations;
}

/** Stores whether a picture that was being made is ready or has failed. */
export async function saveEnd(
  trx: Database,
  videoId: string,
  name: string,
  status: 'ready' | 'failed',
): Promise<void> {
  await trx
    .updateTable('pictures')
    .set({ status, used_at: sql<Date>`now()` })
    .where('video_id', '=', videoId)
    .where('name', '=', name)
    .execute();
}

/** Removes the poster that a client has uploaded. */
export async function removeChosenPoster(trx: Database, videoId: string): Promise<void> {
  await trx.deleteFrom('posters').where('video_id', '=', videoId).execute();
  await trx.updateTable('videos').set({ chosen_poster: null }).where('id', '=', videoId).execute();
}

/** Sets the second of the poster of a video; null for the frame that the engine chooses. */
export async function savePosterTime(trx: Database, videoId: string, time: number | null): Promise<void> {
  await trx
    .updateTable('videos')
    .set({ poster_time: time, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .execute();
}
