import type { operations } from '@framelane/openapi/types';
import type { Request, RequestHandler } from 'express';
import type { Handlers } from '../http/contract.ts';
import type { MovingRequest, StillRequest } from '../outputs/picture-plan.ts';
import type { PlaybackAccessService, Viewer } from '../playback/playback-access.service.ts';
import { sendStored } from '../stored-files/send-stored.ts';
import { PRESIGNED_SECONDS, type StoredFile } from '../stored-files/stored-file.ts';
import type { PicturesService } from './pictures.service.ts';

type StillQuery = NonNullable<operations['getThumbnailJpeg']['parameters']['query']>;
type MovingQuery = NonNullable<operations['getPreviewGif']['parameters']['query']>;

/** A picture never changes, but its video can be deleted or become `signed`. A redirect is valid for half of the time of its URL. */
const CACHED = ['public, max-age=3600', `public, max-age=${PRESIGNED_SECONDS / 2}`] as const;
const UNCACHED = ['private, no-store', 'private, no-store'] as const;

export function pictureRoutes({
  pictures,
  access,
  viewerOf,
}: {
  pictures: PicturesService;
  access: PlaybackAccessService;
  viewerOf: (req: Request) => Viewer;
}) {
  const send =
    (
      type: string,
      load: (workspaceId: string, videoId: string, req: Request) => Promise<StoredFile>,
    ): RequestHandler =>
    async (req, res) => {
      const { tenant, video } = req.params as { tenant: string; video: string };
      const { policy } = await access.admit(tenant, video, viewerOf(req));
      const file = await load(tenant, video, req);
      const [caching, redirectCaching] = policy === 'public' ? CACHED : UNCACHED;
      await sendStored(req, res, file, { 'Content-Type': type, 'Cache-Control': caching }, redirectCaching);
    };

  const still = (type: string, format: StillRequest['format']) =>
    send(type, (workspaceId, videoId, req) => {
      const { time = 0, width, height, fit = 'contain' } = req.query as StillQuery;
      return pictures.still(workspaceId, videoId, { time, width, height, fit, format });
    });

  const moving = (type: string, format: MovingRequest['format']) =>
    send(type, (workspaceId, videoId, req) => {
      const { start = 0, duration = 3, width = 320, fps = 10 } = req.query as MovingQuery;
      return pictures.moving(workspaceId, videoId, { start, duration, width, fps, format });
    });

  return {
    getThumbnailJpeg: still('image/jpeg', 'jpg'),
    getThumbnailWebp: still('image/webp', 'webp'),
    getPreviewWebp: moving('image/webp', 'webp'),
    getPreviewGif: moving('image/gif', 'gif'),
  } satisfies Handlers;
}
