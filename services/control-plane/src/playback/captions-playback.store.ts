import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import { readyRenditions } from './playback.store.ts';

/** The segments of captions of a ready video. */
export const findCaptionsSegments = compileOnce(
  (db, workspaceId: string, videoId: string, language: string) =>
    readyCaptions(db, workspaceId, videoId, language).select([
      'captions.revision',
      'segment_durations as durations',
      'target_duration as targetDuration',
    ]),
);

/**
 * The cues of one segment, joined as in a WebVTT file. PostgreSQL picks them, so that a request for one segment does not read the captions
 * of the whole video, and joins them, because the driver takes long for an array of many texts.
 */
export const findCuesOfSegment = compileOnce(
  (db, workspaceId: string, videoId: string, language: string, sequence: number) =>
    readyCaptions(db, workspaceId, videoId, language)
      .innerJoinLateral(
        sql<{ start: number; end: number }>`(
          select coalesce(round(1000 * sum(d) filter (where at <= ${sequence}::int)), 0) as start,
            round(1000 * sum(d) filter (where at <= ${sequence}::int + 1)) as end
          from unnest(segment_durations) with ordinality as segment (d, at)
        )`.as('span'),
        (join) => join.onTrue(),
      )
      .where(sql<boolean>`cardinality(segment_durations) > ${sequence}::int`)
      .select([
        'captions.revision',
        // A ready video has one.
        sql<number>`start_timestamp`.as('startTimestamp'),
        sql<string>`array_to_string(array(
          select text from unnest(cue_starts, cue_ends, cues) with ordinality as cue (start, finish, text, at)
          where cue.start < span.end and cue.finish > span.start order by at
        ), E'\n')`.as('cues'),
      ]),
);

/** Captions of a ready video, with one of its video renditions: all have the same segments. */
function readyCaptions(db: Database, workspaceId: string, videoId: string, language: string) {
  return readyRenditions(db, workspaceId, videoId)
    .innerJoin('captions', 'captions.video_id', 'videos.id')
    .where('captions.language', '=', language)
    .whereRef('renditions.name', '=', sql`videos.variants[1]`);
}
