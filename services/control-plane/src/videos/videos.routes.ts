import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { VideoRecord } from './video-record.ts';
import type { VideosService } from './videos.service.ts';

/** Query parameters of the list, after the contract has checked them and filled in defaults. */
type ListQuery = {
  order: 'asc' | 'desc';
  status?: string[];
  createdAfter?: string;
  createdBefore?: string;
  environment?: components['schemas']['Environment'];
  q?: string;
};

export function videoRoutes(
  videos: VideosService,
  publicUrl: string,
  idempotent: Idempotent,
): Record<'getVideo' | 'listVideos' | 'updateVideo' | 'deleteVideo' | 'retryVideo', RequestHandler> {
  return {
    getVideo: async (req, res) => {
      res.json(await videos.get(credentialOf(req).workspace_id, String(req.params.id)));
    },

    listVideos: async (req, res) => {
      const query = req.query as unknown as ListQuery;
      const page = await videos.list(
        credentialOf(req).workspace_id,
        {
          statuses: (query.status ?? []).flatMap((item) =>
            item.split(','),
          ) as components['schemas']['VideoStatus'][],
          createdAfter: query.createdAfter === undefined ? undefined : new Date(query.createdAfter),
          createdBefore: query.createdBefore === undefined ? undefined : new Date(query.createdBefore),
          environment: query.environment,
          titleContains: query.q,
        },
        {
          order: query.order,
          ...pageOf(req),
        },
      );
      sendPage(req, res, publicUrl, page);
    },

    updateVideo: async (req, res) => {
      const patch: components['schemas']['VideoPatch'] = req.body;
      res.json(await videos.update(credentialOf(req).workspace_id, String(req.params.id), patch));
    },

    deleteVideo: async (req, res) => {
      await videos.delete(credentialOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },

    retryVideo: idempotent<VideoRecord>({
      prepare: async (req) => videos.retry(credentialOf(req).workspace_id, String(req.params.id)),
      response: (video) => ({ status: 202, body: video }),
      committed: () => videos.retryCommitted(),
    }),
  };
}
