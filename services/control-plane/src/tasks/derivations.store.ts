import type { StoredTrack } from '@framelane/contracts/internal-api';
import type { Derivation } from '@framelane/contracts/outputs/tasks';
import type { TrackRendition } from '@framelane/contracts/renditions';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** The place of segments: their attempt, and the folder of a try of a task. */
type Place = { firstSegment: number; attempt: number; folder: string };

/** A stored rendition, and where its segments are. */
export type TrackRow = Omit<StoredTrack, 'places'> & { places: Place[] };

/** The renditions of a video with these names. */
export async function findTracks(
  db: Database,
  videoId: string,
  names: readonly TrackRendition[],
): Promise<TrackRow[]> {
  const rows = await db
    .selectFrom('renditions')
    .select([
      'name',
      'language',
      'label',
      'segment_bytes as segmentBytes',
      sql<Place[]>`(
        select json_agg(json_build_object('firstSegment', first_segment, 'attempt', attempt, 'folder', folder) order by first_segment)
        from artifacts where artifacts.video_id = renditions.video_id and kind = 'segments' and artifacts.name = renditions.name
      )`.as('places'),
    ])
    .where('video_id', '=', videoId)
    .where('name', 'in', names)
    .execute();
  return rows as TrackRow[];
}

/** Bytes of the stored segments of renditions of a video. */
export async function sumOfBytes(
  db: Database,
  videoId: string,
  names: readonly TrackRendition[],
): Promise<number> {
  const { bytes } = await db
    .selectFrom('artifacts')
    .select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes'))
    .where('video_id', '=', videoId)
    .where('kind', '=', 'segments')
    .where('name', 'in', names)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/** Deletes the derivations of a video whose work has these members. */
export async function deleteDerivations(
  trx: Database,
  videoId: string,
  members: Partial<Derivation>,
): Promise<void> {
  await trx
    .deleteFrom('tasks')
    .where('video_id', '=', videoId)
    .where('input_bytes', 'is not', null)
    .where(sql<boolean>`work @> ${JSON.stringify(members)}::jsonb`)
    .execute();
}
