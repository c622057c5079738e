import type { RequestHandler } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import { readFileBody } from '../http/file-body.ts';
import { MAX_POSTER_BYTES } from './poster-image.ts';
import type { PostersService } from './posters.service.ts';

export function posterRoutes(posters: PostersService): Record<'setPoster' | 'deletePoster', RequestHandler> {
  return {
    setPoster: async (req, res) => {
      const image = await readFileBody(req, res, { name: 'poster', maxBytes: MAX_POSTER_BYTES });
      res.json(await posters.set(credentialOf(req).workspace_id, String(req.params.id), image));
    },

    deletePoster: async (req, res) => {
      await posters.delete(credentialOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },
  };
}
