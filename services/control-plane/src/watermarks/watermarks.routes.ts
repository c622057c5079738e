import type { operations } from '@framelane/openapi/types';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { sendTagged } from '../http/entity-tags.ts';
import { readFileBody } from '../http/file-body.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { MAX_WATERMARK_BYTES } from './watermark-image.ts';
import type { WatermarkRecord, WatermarksService } from './watermarks.service.ts';

export function watermarkRoutes(watermarks: WatermarksService, baseUrl: string, idempotent: Idempotent) {
  return {
    createWatermark: idempotent<WatermarkRecord>({
      readBody: (req, res) => readFileBody(req, res, { name: 'image', maxBytes: MAX_WATERMARK_BYTES }),
      prepare: async (req) => {
        const { name = null } = req.query as operations['createWatermark']['parameters']['query'] & {};
        return watermarks.create(credentialOf(req).workspace_id, name, req.body);
      },
      response: (watermark) => ({
        status: 201,
        location: `${baseUrl}/watermarks/${watermark.id}`,
        body: watermark,
      }),
    }),

    listWatermarks: async (req, res) => {
      res.json({ data: await watermarks.list(credentialOf(req).workspace_id) });
    },

    getWatermark: async (req, res) => {
      res.json(await watermarks.get(credentialOf(req).workspace_id, String(req.params.id)));
    },

    getWatermarkImage: async (req, res) => {
      const { workspace_id } = credentialOf(req);
      const { contentType, image } = await watermarks.image(workspace_id, String(req.params.id));
      // Caches of browsers must revalidate: the image can be deleted, and the session can end.
      sendTagged(res.set('Cache-Control', 'private, no-cache').type(contentType), image);
    },

    deleteWatermark: async (req, res) => {
      await watermarks.delete(credentialOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },
  } satisfies Handlers;
}
