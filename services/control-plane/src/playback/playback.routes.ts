import type { RenditionName } from '@framelane/contracts/renditions';
import type { ImageName } from '@framelane/object-store/object-keys';
import type { components } from '@framelane/openapi/types';
import compression from 'compression';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import type { Authenticate } from '../http/request-validation.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { sendStored } from '../stored-files/send-stored.ts';
import { PRESIGNED_SECONDS } from '../stored-files/stored-file.ts';
import type { PlaybackService } from './playback.service.ts';
import type { Admission, IssuedToken, PlaybackAccessService, Viewer } from './playback-access.service.ts';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
const STORYBOARD_TYPE = 'text/vtt';
const SEGMENT_HEADERS = {
  'Content-Type': 'video/mp2t',
  'Cache-Control': 'public, max-age=31536000, immutable',
};
/** Redirects are cached for half of the time that their URLs are valid, so a cached URL is valid for at least the other half. */
const REDIRECT_CACHING = `public, max-age=${PRESIGNED_SECONDS / 2}`;

/** The default of the contract. The validator does not set it in a request without a body. */
const DEFAULT_TOKEN_SECONDS = 3600;

type VideoPath = { tenant: string; video: string };
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

/** Compresses playlists and storyboards. Encrypted segments, keys and images do not get smaller. */
export const playlistCompression: RequestHandler = compression({
  threshold: 256,
  filter: (_req, res) => {
    const type = String(res.getHeader('Content-Type'));
    return type.startsWith(PLAYLIST_TYPE) || type.startsWith(STORYBOARD_TYPE);
  },
});

type Operation =
  | 'createPlaybackToken'
  | 'getMasterPlaylist'
  | 'getMediaPlaylist'
  | 'getSegment'
  | 'getContentKey'
  | 'getPoster'
  | 'getStoryboard'
  | 'getStoryboardImage';

export function playbackRoutes(deps: {
  playback: PlaybackService;
  access: PlaybackAccessService;
  authenticate: Authenticate;
  idempotent: Idempotent;
}): Record<Operation, RequestHandler> {
  const { playback, access, authenticate, idempotent } = deps;

  const issueToken = (req: Request): Promise<IssuedToken> => {
    const { expiresIn = DEFAULT_TOKEN_SECONDS }: Partial<components['schemas']['PlaybackTokenRequest']> =
      req.body ?? {};
    return access.issueToken(apiKeyOf(req).workspace_id, String(req.params.id), expiresIn);
  };

  const viewerOf = (req: Request): Viewer => ({
    token: req.query.token,
    workspaceOfKey:
      req.get('authorization') === undefined
        ? undefined
        : async () => {
            await authenticate(req, ['videos:read']);
            return apiKeyOf(req).workspace_id;
          },
  });

  const sendImage =
    (name: ImageName): RequestHandler =>
    async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      send(res, admission, 'image/jpeg', await playback.image(tenant, video, name));
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

    getMasterPlaylist: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      const playlist = await playback.masterPlaylist(tenant, video, admission);
      send(res, admission, PLAYLIST_TYPE, playlist);
    },

    getMediaPlaylist: async (req, res) => {
      const { tenant, video, rendition } = pathOf<RenditionPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      const playlist = await playback.mediaPlaylist(tenant, video, rendition, admission);
      send(res, admission, PLAYLIST_TYPE, playlist);
    },

    getSegment: async (req, res) => {
      const { tenant, video, rendition, sequence } = pathOf<RenditionPath & { sequence: number }>(req);
      const address = { workspaceId: tenant, videoId: video, rendition, sequence: Number(sequence) };
      await sendStored(req, res, await playback.segment(address), SEGMENT_HEADERS, REDIRECT_CACHING);
    },

    getContentKey: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      await access.admit(tenant, video, viewerOf(req));
      const key = await playback.contentKey(tenant, video);
      res.set({ 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' }).send(key);
    },

    getPoster: sendImage('poster.jpg'),
    getStoryboardImage: sendImage('storyboard.jpg'),

    getStoryboard: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      send(res, admission, STORYBOARD_TYPE, await playback.storyboard(tenant, video, admission.token));
    },
  };
}

function toPlaybackToken({ token, url, expiresAt }: IssuedToken): components['schemas']['PlaybackToken'] {
  return { token, url, expiresAt: expiresAt.toISOString() };
}

/** Path parameters, validated by the contract. */
function pathOf<T>(req: Request): T {
  return req.params as unknown as T;
}

/** Sends a body. The response for a public video can be cached for a minute, one for a signed video not at all. */
function send(res: Response, { policy }: Admission, type: string, body: string | Buffer): void {
  const caching = policy === 'public' ? 'public, max-age=60' : 'private, no-store';
  res.set('Cache-Control', caching).type(type).send(body);
}
