import { canonicalLanguage } from '@framelane/contracts/languages';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import { renderCaptionsPlaylist, renderCaptionsSegment } from './captions-playlist.ts';
import { readyRenditions } from './playback.store.ts';
import { notPlayable } from './playback-access.service.ts';

/** Captions of a video in one language, written as in the URL. */
type CaptionsPath = { workspaceId: string; videoId: string; language: string };

/** A body, and the revision of the captions that it was made from. */
type OfRevision = { body: string; revision: number };

/** Serves the captions of ready videos as segments of WebVTT. */
export class CaptionsPlaybackService {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The media playlist; a token is added to its URLs. Throws 404 unless the video is ready and has these captions. */
  async playlist(path: CaptionsPath, token: string | undefined): Promise<OfRevision> {
    const { workspaceId, videoId, language } = path;
    const [found] = await captionsOf(this.#db, workspaceId, videoId, canonicalLanguage(language) ?? '');
    if (found?.targetDuration == null) throw notPlayable();
    const { durations, targetDuration, revision } = found;
    return { body: renderCaptionsPlaylist({ durations, targetDuration }, token), revision };
  }

  /** One segment. Throws 404 unless the video is ready and has these captions and such a segment. */
  async segment(path: CaptionsPath, sequence: number): Promise<OfRevision> {
    const { workspaceId, videoId, language } = path;
    const tag = canonicalLanguage(language) ?? '';
    const [found] = await cuesOfSegment(this.#db, workspaceId, videoId, tag, sequence);
    if (found === undefined) throw notPlayable();
    return { body: renderCaptionsSegment(found.cues, found.startTimestamp), revision: found.revision };
  }
}

/** Captions of a ready video, with one of its video renditions: all have the same segments. */
function readyCaptions(db: Database, workspaceId: string, videoId: string, language: string) {
  return readyRenditions(db, workspaceId, videoId)
    .innerJoin('captions', 'captions.video_id', 'videos.id')
    .where('captions.language', '=', language)
    .whereRef('renditions.name', '=', sql`videos.variants[1]`);
}

const captionsOf = compileOnce((db, workspaceId: string, videoId: string, language: string) =>
  readyCaptions(db, workspaceId, videoId, language).select([
    'captions.revision',
    'segment_durations as durations',
    'target_duration as targetDuration',
  ]),
);

/** PostgreSQL picks the cues, so that a request for one segment does not read the captions of the whole video. */
const cuesOfSegment = compileOnce(
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
        'start_timestamp as startTimestamp',
        sql<string[]>`array(
          select text from unnest(cue_starts, cue_ends, cues) with ordinality as cue (start, finish, text, at)
          where cue.start < span.end and cue.finish > span.start order by at
        )`.as('cues'),
      ]),
);
