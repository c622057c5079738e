import { canonicalLanguage } from '@framelane/contracts/languages';
import type { Database } from '../db/database.ts';
import { findCaptionsSegments, findCuesOfSegment } from './captions-playback.store.ts';
import { renderCaptionsPlaylist, renderCaptionsSegment } from './captions-playlist.ts';
import { notPlayable } from './playback-access.service.ts';

/** Captions of a video in one language, written as in the URL. */
type CaptionsPath = { workspaceId: string; videoId: string; language: string };

/** A body, and the revision of the captions that it was made from. */
type CaptionsBody = { body: string; revision: number };

/** Serves the captions of ready videos as segments of WebVTT. */
export class CaptionsPlaybackService {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The media playlist; a token is added to its URLs. Throws 404 unless the video is ready and has these captions. */
  async playlist(path: CaptionsPath, token: string | undefined): Promise<CaptionsBody> {
    const { workspaceId, videoId, language } = path;
    const tag = canonicalLanguage(language) ?? '';
    const [found] = await findCaptionsSegments(this.#db, workspaceId, videoId, tag);
    if (found?.targetDuration == null) throw notPlayable();
    const { durations, targetDuration, revision } = found;
    return { body: renderCaptionsPlaylist({ durations, targetDuration }, token), revision };
  }

  /** One segment. Throws 404 unless the video is ready and has these captions and such a segment. */
  async segment(path: CaptionsPath, sequence: number): Promise<CaptionsBody> {
    const { workspaceId, videoId, language } = path;
    const tag = canonicalLanguage(language) ?? '';
    const [found] = await findCuesOfSegment(this.#db, workspaceId, videoId, tag, sequence);
    if (found === undefined) throw notPlayable();
    return { body: renderCaptionsSegment(found.cues, found.startTimestamp), revision: found.revision };
  }
}
