import type { components, operations } from '@framelane/openapi/types';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { type EntityTags, sendUnchanged, setEntityTag } from '../http/entity-tags.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { WithDefaults } from '../http/request-validation.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { searchedTexts } from './searched-texts.ts';
import type { VideoRecord } from './video-record.ts';
import type { VideosService } from './videos.service.ts';

/** Query parameters of the list, after the OpenAPI validator has checked them and filled in defaults. */
type ListQuery = WithDefaults<
  NonNullable<operations['listVideos']['parameters']['query']>,
  'order' | 'total'
>;

export function videoRoutes({
  videos,
  publicUrl,
  entityTags,
  idempotent,
}: {
  videos: VideosService;
  publicUrl: string;
  entityTags: EntityTags;
  idempotent: Idempotent;
}) {
  return {
    getVideo: async (req, res) => {
      const { record, version } = await videos.getVersioned(
        credentialOf(req).workspace_id,
        String(req.params.id),
      );
      const entityTag = entityTags.of([version]);
      if (!sendUnchanged(req, res, entityTag)) setEntityTag(res, entityTag).json(record);
    },

    getVideoTimeline: async (req, res) => {
      res.json({ data: await videos.timeline(credentialOf(req).workspace_id, String(req.params.id)) });
    },

    listVideos: async (req, res) => {
      const { order, limit, cursor, total: isCounted, ...query } = req.query as unknown as ListQuery;
      const { status = [], createdAfter, createdBefore, q = '', ...others } = query;
      const filter = {
        ...others,
        statuses: status.flatMap((item) => item.split(',')) as components['schemas']['VideoStatus'][],
        createdAfter: createdAfter === undefined ? undefined : new Date(createdAfter),
        createdBefore: createdBefore === undefined ? undefined : new Date(createdBefore),
        titleContains: searchedTexts(q),
      };
      const workspaceId = credentialOf(req).workspace_id;
      const listArguments = [workspaceId, filter, { order, ...pageOf(req) }] as const;
      const total = isCounted ? await videos.count(workspaceId, filter) : undefined;
      const entityTagOf = (versions: readonly string[]) =>
        entityTags.of(total === undefined ? versions : [...versions, `${total.count} ${total.exact}`]);
      if (req.get('if-none-match') !== undefined) {
        if (sendUnchanged(req, res, entityTagOf(await videos.versions(...listArguments)))) return;
      }
      const { page, versions } = await videos.list(...listArguments);
      // These versions were read together with the page. They may be newer than those above.
      setEntityTag(res, entityTagOf(versions));
      sendPage(req, res, publicUrl, { ...page, ...(total && { total }) });
    },

    listTags: async (req, res) => {
      res.json({ data: await videos.tags(credentialOf(req).workspace_id, req.query) });
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
  } satisfies Handlers;
}
