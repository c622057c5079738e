import { pipeline } from 'node:stream/promises';
import type { RenditionName } from '@framelane/contracts/renditions';
import type { ByteRange } from '@framelane/object-store/object-store';
import compression from 'compression';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import type { DeliveryService, SegmentSource } from './delivery.service.ts';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
const IMMUTABLE = 'public, max-age=31536000, immutable';

type VideoPath = { tenant: string; video: string };
type RenditionPath = VideoPath & { rendition: RenditionName };

/** Any page may play: no cookie or key goes along, so any origin is safe. Set on errors and preflights as well. */
export const deliveryCors: RequestHandler = cors({
  origin: '*',
  methods: ['GET', 'HEAD'],
  exposedHeaders: ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag', 'X-Request-Id'],
  maxAge: 86_400,
});

/** Playlists are text and shrink well; segments and keys are random bytes. */
export const playlistCompression: RequestHandler = compression({
  threshold: 256,
  filter: (_req, res) => String(res.getHeader('Content-Type')).startsWith(PLAYLIST_TYPE),
});

export function deliveryRoutes(
  delivery: DeliveryService,
): Record<'getMasterPlaylist' | 'getMediaPlaylist' | 'getSegment' | 'getContentKey', RequestHandler> {
  return {
    getMasterPlaylist: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      sendPlaylist(res, await delivery.masterPlaylist(tenant, video));
    },

    getMediaPlaylist: async (req, res) => {
      const { tenant, video, rendition } = pathOf<RenditionPath>(req);
      sendPlaylist(res, await delivery.mediaPlaylist(tenant, video, rendition));
    },

    getSegment: async (req, res) => {
      const { tenant, video, rendition, sequence } = pathOf<RenditionPath & { sequence: number }>(req);
      const address = { workspaceId: tenant, videoId: video, rendition, sequence: Number(sequence) };
      await sendSegment(req, res, await delivery.segment(address));
    },

    getContentKey: async (req, res) => {
      const { tenant, video } = pathOf<VideoPath>(req);
      const key = await delivery.contentKey(tenant, video);
      res.set({ 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' }).send(key);
    },
  };
}

/** Path parameters, which the contract has checked. */
function pathOf<T>(req: Request): T {
  return req.params as unknown as T;
}

function sendPlaylist(res: Response, playlist: string): void {
  res.set('Cache-Control', 'public, max-age=60').type(PLAYLIST_TYPE).send(playlist);
}

/** Answers 200, 206, 304 or 416 (RFC 9110 §13, §14); only what is sent is read from storage. */
async function sendSegment(req: Request, res: Response, segment: SegmentSource): Promise<void> {
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
    // A player that seeks away hangs up; that is nobody's fault.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** The one range to send; undefined for the whole. Several ranges at once are answered with the whole, too. */
function requestedRange(
  req: Request,
  { bytes, etag }: SegmentSource,
): ByteRange | undefined | 'unsatisfiable' {
  const condition = req.get('if-range');
  // RFC 9110 §13.1.5: another version was meant, so the range is void.
  if (condition !== undefined && condition !== etag) return undefined;
  const ranges = req.range(bytes, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  const usable = Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1;
  return usable ? ranges[0] : undefined;
}
