import type { SealingKeys } from '@framelane/contracts/sealing';
import { Problem } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import type { Clock } from '../db/database-clock.ts';
import type { PlaybackPolicy } from '../db/schema.ts';
import { masterPlaylistUrl } from '../videos/video-record.ts';
import type { VideosService } from '../videos/videos.service.ts';
import { findPlayback } from './playback.store.ts';
import { judgePlaybackToken, playbackTokenKey, signPlaybackToken, withToken } from './playback-token.ts';

/** The credentials of a playback request. */
export type Viewer = {
  /** The unverified `token` parameter; undefined without one. */
  token: unknown;
  /** Authenticates the API key or the session of the request and resolves with its workspace; undefined without either. */
  workspaceOfCredential: (() => Promise<string>) | undefined;
};

/** A playback token, and the URL of the master playlist with it. */
export type IssuedToken = { token: string; url: string; expiresAt: Date };

/** A viewer may play. `version` is that of the playlists. Their URLs need the token, if there is one. */
export type Admission = {
  policy: PlaybackPolicy;
  version: number;
  token: string | undefined;
  /** Whether engines still transcode the video. Then no response may be cached. */
  isPreview: boolean;
};

/** Decides who may play a video, and issues tokens. */
export class PlaybackAccessService {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #videos: VideosService;
  /** The first key signs; each of them verifies. */
  readonly #tokenKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly #baseUrl: string;

  constructor(deps: {
    db: Database;
    clock: Clock;
    videos: VideosService;
    contentKeys: SealingKeys;
    baseUrl: string;
  }) {
    this.#db = deps.db;
    this.#clock = deps.clock;
    this.#videos = deps.videos;
    const [current, ...previous] = deps.contentKeys.all;
    this.#tokenKeys = [playbackTokenKey(current), ...previous.map(playbackTokenKey)];
    this.#baseUrl = deps.baseUrl;
  }

  /** Issues a token for a video in any state. Throws 404 `video_not_found`. */
  async issueToken(
    workspaceId: string,
    videoId: string,
    { expiresInSeconds, allowDownloads }: { expiresInSeconds: number; allowDownloads: boolean },
  ): Promise<IssuedToken> {
    const video = await this.#videos.get(workspaceId, videoId);
    const issuedAt = wholeSeconds(this.#clock.now());
    const expiresAt = new Date(issuedAt.getTime() + expiresInSeconds * 1000);
    const token = await signPlaybackToken(this.#tokenKeys[0], {
      videoId,
      issuedAt,
      expiresAt,
      allowDownloads,
    });
    return { token, url: withToken(masterPlaylistUrl(video, this.#baseUrl), token), expiresAt };
  }

  /**
   * Admits a viewer to a ready video or a preview, or throws a Problem. Anybody may play a public video; a signed one needs a token, or an
   * API key or a session of its workspace. A token for a download must allow downloads.
   */
  async admit(
    workspaceId: string,
    videoId: string,
    viewer: Viewer,
    { isDownload = false } = {},
  ): Promise<Admission> {
    const playback = await findPlayback(this.#db, workspaceId, videoId);
    if (playback === undefined) throw notPlayable();
    if (playback.policy === 'public') return { ...playback, token: undefined };
    if (viewer.token !== undefined) {
      return { ...playback, token: await this.requireToken(viewer.token, videoId, { isDownload }) };
    }
    if (viewer.workspaceOfCredential === undefined) throw tokenRequired();
    if ((await viewer.workspaceOfCredential()) !== workspaceId) throw foreignCredential();
    return { ...playback, token: undefined };
  }

  /** Resolves with the token if it is valid for this signed video, in any state. Throws a Problem otherwise. */
  async requireToken(token: unknown, videoId: string, { isDownload = false } = {}): Promise<string> {
    if (token === undefined) throw tokenRequired();
    // The parameter is an array when it is given twice.
    if (typeof token !== 'string') throw tokenInvalid();
    const verdict = await judgePlaybackToken(this.#tokenKeys, token, {
      videoId,
      now: this.#clock.now(),
      isDownload,
    });
    if (verdict === 'expired') throw tokenExpired();
    if (verdict === 'invalid') throw tokenInvalid();
    if (verdict === 'without_downloads') throw downloadsNotAllowed();
    return token;
  }
}

/** Times in a JWT have whole seconds, and the response states the same ones. */
function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}

/** The error for a video that is unknown, deleted or not ready. The client does not learn which. */
export function notPlayable(): Problem {
  return new Problem('video_not_found', 'No ready video has this address, or the video has no such part.');
}

function tokenRequired(): Problem {
  return new Problem(
    'playback_token_required',
    'This video requires a playback token. Add it to the URL as "?token=".',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

function foreignCredential(): Problem {
  return new Problem(
    'workspace_mismatch',
    'This API key or session belongs to another workspace than the video.',
  );
}

function tokenInvalid(): Problem {
  return new Problem(
    'playback_token_invalid',
    'This playback token is not valid for this video. Get a new one.',
  );
}

function tokenExpired(): Problem {
  return new Problem('playback_token_expired', 'This playback token has expired. Get a new one.');
}

function downloadsNotAllowed(): Problem {
  return new Problem(
    'downloads_not_allowed',
    'This playback token does not allow downloads. Create one with allowDownloads.',
  );
}
