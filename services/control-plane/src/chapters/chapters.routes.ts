import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { readFileBody } from '../http/file-body.ts';
import type { ChaptersService } from './chapters.service.ts';

/** As large as a JSON body. */
const MAX_CHAPTERS_BYTES = 256 * 1024;

export function chapterRoutes(chapters: ChaptersService) {
  return {
    getChapters: async (req, res) => {
      res.json(await chapters.get(...addressOf(req)));
    },

    getChaptersFile: async (req, res) => {
      res.type('text/vtt').send(await chapters.file(...addressOf(req)));
    },

    setChapters: async (req, res) => {
      const limit = { name: 'chapters', maxBytes: MAX_CHAPTERS_BYTES };
      const sent = req.is('text/vtt') ? await readFileBody(req, res, limit) : req.body;
      res.json(await chapters.set(...addressOf(req), sent));
    },

    deleteChapters: async (req, res) => {
      await chapters.delete(...addressOf(req));
      res.status(204).end();
    },
  } satisfies Handlers;
}

function addressOf(req: Request): [workspaceId: string, videoId: string] {
  return [credentialOf(req).workspace_id, String(req.params.id)];
}
