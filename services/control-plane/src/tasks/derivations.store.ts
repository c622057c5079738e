import type { ReportNoRoomRequest, StoredTrack } from '@framelane/contracts/internal-api';
import { DERIVATION_COMMANDS, type RenditionPart } from '@framelane/contracts/outputs/kinds';
import type { Derivation } from '@framelane/contracts/outputs/tasks';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';

/** The place of segments: their attempt, and the folder of a try of a task. */
type Place = { firstSegment: number; attempt: number; folder: string };

/** A part of a stored rendition, and where the segments of the rendition are. */
export type TrackRow = Omit<StoredTrack, 'places' | 'initialization'> & {
  places: Place[];
  initialization: Buffer | null;
};

/** The segments of a part of a rendition: a slice of an array, whose elements PostgreSQL counts from 1. */
const SEGMENT_BYTES = sql<
  number[]
>`segment_bytes[coalesce(first, 0) + 1 : coalesce(first + count, cardinality(segment_bytes))]`;

/** Rows of `renditions` and `part` for parts of renditions of a video. Those of a whole rendition have no `first` and no `count`. */
function partsOf(videoId: string, parts: readonly RenditionPart[]) {
  const rows = parts.map(({ rendition, segments }) => ({ rendition, ...segments }));
  return sql`renditions join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as part (rendition text, first int, count int)
    on name = rendition where video_id = ${videoId}`;
}

/** Parts of renditions of a video. */
export async function findTracks(
  db: Database,
  videoId: string,
  parts: readonly RenditionPart[],
): Promise<TrackRow[]> {
  const { rows } = await sql<TrackRow>`
    select name, language, label, initialization, coalesce(first, 0) as "firstSegment", ${SEGMENT_BYTES} as "segmentBytes", (
      select json_agg(json_build_object('firstSegment', first_segment, 'attempt', attempt, 'folder', folder) order by first_segment)
      from artifacts where artifacts.video_id = renditions.video_id and kind = 'segments' and artifacts.name = renditions.name
    ) as places
    from ${partsOf(videoId, parts)}`.execute(db);
  return rows;
}

/** Bytes of the stored segments of parts of renditions of a video. */
export async function sumOfBytes(
  db: Database,
  videoId: string,
  parts: readonly RenditionPart[],
): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum((select sum(bytes) from unnest(${SEGMENT_BYTES}) as bytes)), 0)::float8 as bytes
    from ${partsOf(videoId, parts)}`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** The derivations of a video that no engine works on, that read at least `inputBytes`, and that have waited for `seconds`. */
export async function findStuck(
  trx: Database,
  { videoId, command, inputBytes }: ReportNoRoomRequest,
  seconds: number,
): Promise<Derivation[]> {
  const rows = await trx
    .selectFrom('tasks')
    .select('work')
    .where('video_id', '=', videoId)
    .where('command', '=', command)
    .where('input_bytes', '>=', inputBytes)
    .where('lease_expires_at', 'is', null)
    .where('due_at', '<=', inSeconds(-seconds))
    .orderBy('number')
    .execute();
  return rows.map(({ work }) => work as Derivation);
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
    .where('command', 'in', DERIVATION_COMMANDS)
    .where(sql<boolean>`work @> ${JSON.stringify(members)}::jsonb`)
    .execute();
}
