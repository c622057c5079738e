import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { readFileBody } from '../http/file-body.ts';
import { MAX_POSTER_BYTES } from './poster-image.ts';
import type { PostersService } from './posters.service.ts';

export function posterRoutes(posters: PostersService) {
  return {
    setPoster: async (req, res) => {
      const image = await readFileBody(req, res, { name: 'poster', maxBytes: MAX_POSTER_BYTES });
      res.json(await posters.set(credentialOf(req).workspace_id, String(req.params.id), image));
    },

    deletePoster: async (req, res) => {
      await posters.delete(credentialOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },
  } satisfies Handlers;
}
