import { pipeline } from 'node:stream/promises';
import type { RenditionName } from '@framelane/contracts/renditions';
import type { ImageName } from '@framelane/object-store/object-keys';
import type { ByteRange } from '@framelane/object-store/object-store';
import type { components } from '@framelane/openapi/types';
import compression from 'compression';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import type { Authenticate } from '../http/request-validation.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { type PlaybackService, PRESIGNED_SECONDS, type SegmentSource } from './playback.service.ts';
import type { Admission, IssuedToken, PlaybackAccessService, Viewer } from './playback-access.service.ts';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
const STORYBOARD_TYPE = 'text/vtt';
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Redirects are cached for half of the time that their URLs are valid, so a cached URL is valid for at least the other half. */
const REDIRECT_CACHING = `public, max-age=${PRESIGNED_SECONDS / 2}`;

/** Errors of a response whose client has closed the connection, as players do when they seek. */
const CLIENT_ABORTS: ReadonlySet<string | undefined> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_UNABLE_TO_PIPE',
]);

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
      const playlist = await playback.masterPlaylist(tenant, video, admission.token);
      send(res, admission, PLAYLIST_TYPE, playlist);
    },

    getMediaPlaylist: async (req, res) => {
      const { tenant, video, rendition } = pathOf<RenditionPath>(req);
      const admission = await access.admit(tenant, video, viewerOf(req));
      const playlist = await playback.mediaPlaylist(tenant, video, rendition, admission.token);
      send(res, admission, PLAYLIST_TYPE, playlist);
    },

    getSegment: async (req, res) => {
      const { tenant, video, rendition, sequence } = pathOf<RenditionPath & { sequence: number }>(req);
      const address = { workspaceId: tenant, videoId: video, rendition, sequence: Number(sequence) };
      await sendSegment(req, res, await playback.segment(address));
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

/**
 * Responds with 200, 206, 304 or 416 (RFC 9110 §13, §14), and reads only the requested range from storage; or redirects
 * to the object store with 302.
 */
async function sendSegment(req: Request, res: Response, segment: SegmentSource): Promise<void> {
  // A URL presigned for GET does not allow HEAD.
  if (segment.presign !== undefined && req.method === 'GET') {
    const location = await segment.presign();
    res.set('Cache-Control', REDIRECT_CACHING).status(302).location(location).end();
    return;
  }
  res.set({ ETag: segment.etag, 'Accept-Ranges': 'bytes' });
  if (req.fresh) {
    res.set('Cache-Control', IMMUTABLE).status(304).end();
    return;
  }
  const range = requestedRange(req, segment);
  if (range === 'unsatisfiable') {
    res.status(416).set('Content-Range', `bytes */${segment.bytes}`).end();
    return;
  }
  const body = req.method === 'HEAD' ? null : await segment.open(range);
  const { start, end } = range ?? { start: 0, end: segment.bytes - 1 };
  if (range !== undefined) res.status(206).set('Content-Range', `bytes ${start}-${end}/${segment.bytes}`);
  res.set({
    'Content-Type': 'video/mp2t',
    'Cache-Control': IMMUTABLE,
    'Content-Length': String(end - start + 1),
  });
  if (body === null) {
    res.end();
    return;
  }
  try {
    await pipeline(body, res);
  } catch (error) {
    // A pipeline that could not start does not close its source.
    body.destroy();
    if (!CLIENT_ABORTS.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

/** The requested range. Undefined for the whole segment, also if several ranges are requested. */
function requestedRange(
  req: Request,
  { bytes, etag }: SegmentSource,
): ByteRange | undefined | 'unsatisfiable' {
  const condition = req.get('if-range');
  // The range is for another version (RFC 9110 §13.1.5).
  if (condition !== undefined && condition !== etag) return undefined;
  const ranges = req.range(bytes, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  const usable = Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1;
  return usable ? ranges[0] : undefined;
}
