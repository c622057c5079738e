import { PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import type { RenditionName } from '@framelane/contracts/renditions';
import type { components } from '@framelane/openapi/types';
import compression from 'compression';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { sendTagged } from '../http/entity-tags.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { sendStored } from '../stored-files/send-stored.ts';
import { PRESIGNED_SECONDS } from '../stored-files/stored-file.ts';
import type { CaptionsPlaybackService } from './captions-playback.service.ts';
import type { ChaptersPlaybackService } from './chapters-playback.service.ts';
import type { PlaybackService } from './playback.service.ts';
import {
  type Admission,
  type IssuedToken,
  notPlayable,
  type PlaybackAccessService,
  type Viewer,
} from './playback-access.service.ts';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
const WEBVTT_TYPE = 'text/vtt';
const JSON_TYPE = 'application/json';
/**
 * Caching of segments and initialization sections, and of redirects to segments. Redirects are cached for half of the time that their URLs
 * are valid, so a cached URL is valid for at least the other half.
 */
const CACHED = {
  content: 'public, max-age=31536000, immutable',
  redirect: `public, max-age=${PRESIGNED_SECONDS / 2}`,
};
/** The same for a preview. After a failed try or attempt, or when another plan replaces that of the attempt, others have the same URLs. */
const UNCACHED = { content: 'no-store', redirect: 'no-store' };

/** The default of the contract. The validator does not set it in a request without a body. */
const DEFAULT_TOKEN_SECONDS = 3600;

type VideoPath = { tenant: string; video: string };
type CaptionsPath = VideoPath & { language: string; revision: string };
type RenditionPath = VideoPath & { rendition: RenditionName };

/** Every origin is allowed: players send neither cookies nor keys. Errors and preflights have these headers as well. */
export const playbackCors: RequestHandler = cors({
  origin: '*',
  methods: ['GET', 'HEAD'],
  exposedHeaders: [
    'Accept-Ranges',
    'Content-Length',
    'Content-Range',
    'ETag',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'X-Request-Id',
  ],
  maxAge: 86_400,
});

/** Compresses playlists, storyboards, captions and chapters. Encrypted segments, keys and images do not get smaller. */
export const playlistCompression: RequestHandler = compression({
  threshold: 256,
  filter: (_req, res) => {
    const type = String(res.getHeader('Content-Type'));
    return [PLAYLIST_TYPE, WEBVTT_TYPE, JSON_TYPE].some((each) => type.startsWith(each));
  },
});

export function playbackRoutes(deps: {
  playback: PlaybackService;
  captions: CaptionsPlaybackService;
  chapters: ChaptersPlaybackService;
  access: PlaybackAccessService;
  viewerOf: (req: Request) => Viewer;
  idempotent: Idempotent;
}) {
  const { playback, captions, chapters, access, viewerOf, idempotent } = deps;

  const issueToken = (req: Request): Promise<IssuedToken> => {
    const body: Partial<components['schemas']['PlaybackTokenRequest']> = req.body ?? {};
    const { expiresIn: expiresInSeconds = DEFAULT_TOKEN_SECONDS, allowDownloads = false } = body;
    const { workspace_id } = credentialOf(req);
    return access.issueToken(workspace_id, String(req.params.id), { expiresInSeconds, allowDownloads });
  };

  const sendImage =
    (load: (workspaceId: string, videoId: string) => Promise<Buffer>, caching?: string): RequestHandler =>
    async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      send(res, admission, 'image/jpeg', await load(tenant, video), caching);
    };

  const sendChapters =
    (type: string, load: (workspaceId: string, videoId: string) => Promise<string>): RequestHandler =>
    async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      // A preview has other playlists, without chapters.
      if (admission.isPreview) throw notPlayable();
      // Caches must revalidate, so that a change is visible at once.
      send(res, admission, type, await load(tenant, video), REVALIDATED);
    };

  const sendMasterPlaylist =
    (audioOnly: boolean): RequestHandler =>
    async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      const playlist = await playback.masterPlaylist(tenant, video, admission, { audioOnly });
      // Caches must revalidate, so that a change of the captions is visible at once.
      send(res, admission, PLAYLIST_TYPE, playlist, REVALIDATED);
    };

  const sendSegment =
    (packaging: PackagingName): RequestHandler =>
    async (req, res) => {
      const { tenant, video, rendition, sequence } = pathOf<RenditionPath & { sequence: string }>(req);
      const address = { workspaceId: tenant, videoId: video, rendition, sequence: Number(sequence) };
      const { file, isPreview } = await playback.segment({ ...address, packaging });
      const caching = isPreview ? UNCACHED : CACHED;
      const { contentType } = PACKAGINGS[packaging];
      const headers = { 'Content-Type': contentType, 'Cache-Control': caching.content };
      await sendStored(req, res, file, headers, caching.redirect);
    };

  return {
    createPlaybackToken: idempotent<IssuedToken>({
      prepare: async (req) => {
        const issued = await issueToken(req);
        return async () => issued;
      },
      response: (issued) => ({ status: 201, body: toPlaybackToken(issued) }),
      oneTime: ['token', 'url', 'expiresAt'],
      renew: async (req) => toPlaybackToken(await issueToken(req)),
    }),

    getMasterPlaylist: sendMasterPlaylist(false),
    getAudioPlaylist: sendMasterPlaylist(true),

    getMediaPlaylist: async (req, res) => {
      const { tenant, video, rendition } = pathOf<RenditionPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      const playlist = await playback.mediaPlaylist(tenant, video, rendition, admission);
      send(res, admission, PLAYLIST_TYPE, playlist);
    },

    getSegment: sendSegment('ts'),
    getCmafSegment: sendSegment('cmaf'),

    // Like segments, it needs no authentication: it contains nothing of the content.
    getInitialization: async (req, res) => {
      const { tenant, video, rendition } = pathOf<RenditionPath>(req);
      const address = { workspaceId: tenant, videoId: video, rendition };
      const { section, isPreview } = await playback.initialization(address);
      const { content } = isPreview ? UNCACHED : CACHED;
      sendTagged(res.set('Cache-Control', content).type(PACKAGINGS.cmaf.contentType), section);
    },

    getCaptionsPlaylist: async (req, res) => {
      const { tenant, video, language, revision } = pathOf<CaptionsPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      const playlist = await captions.playlist(
        { workspaceId: tenant, videoId: video, language },
        admission.token,
      );
      send(res, admission, PLAYLIST_TYPE, playlist.body, cachingOf(revision, playlist));
    },

    getCaptionsSegment: async (req, res) => {
      const { tenant, video, language, revision, sequence } = pathOf<CaptionsPath & { sequence: string }>(
        req,
      );
      const admission = await access.admit(tenant, video, viewerOf(req));
      const segment = await captions.segment(
        { workspaceId: tenant, videoId: video, language },
        Number(sequence),
      );
      send(res, admission, WEBVTT_TYPE, segment.body, cachingOf(revision, segment));
    },

    getPlaybackChapters: sendChapters(JSON_TYPE, (...video) => chapters.json(...video)),
    getPlaybackChaptersFile: sendChapters(WEBVTT_TYPE, (...video) => chapters.webVtt(...video)),

    getContentKey: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      await access.admit(tenant, video, viewerOf(req));
      const key = await playback.contentKey(tenant, video);
      res.set({ 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' }).send(key);
    },

    // Caches must revalidate, so that a new poster is visible at once.
    getPoster: sendImage((...video) => playback.poster(...video), REVALIDATED),
    getStoryboardImage: sendImage((...video) => playback.image(...video, 'storyboard')),

    getStoryboard: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      send(res, admission, WEBVTT_TYPE, await playback.storyboard(tenant, video, admission.token));
    },
  } satisfies Handlers;
}

function toPlaybackToken({ token, url, expiresAt }: IssuedToken): components['schemas']['PlaybackToken'] {
  return { token, url, expiresAt: expiresAt.toISOString() };
}

/** Path parameters, validated by the contract. */
function pathOf<T>(req: Request): T {
  return req.params as unknown as T;
}

/** Caching of a response for a public video: for a minute, or with revalidation each time. */
const FOR_A_MINUTE = 'public, max-age=60';
const REVALIDATED = 'public, no-cache';

/** A player that started before a change of the captions has the URLs of the earlier revision. It gets the current captions. */
function cachingOf(revision: string, current: { revision: number }): string {
  return Number(revision) === current.revision ? FOR_A_MINUTE : REVALIDATED;
}

/** Sends a body. The response for a signed video or a preview cannot be cached. */
function send(
  res: Response,
  { policy, isPreview }: Admission,
  type: string,
  body: string | Buffer,
  caching = FOR_A_MINUTE,
): void {
  const isShared = policy === 'public' && !isPreview;
  sendTagged(res.set('Cache-Control', isShared ? caching : 'private, no-store').type(type), body);
}
