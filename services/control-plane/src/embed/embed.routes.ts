import { Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import type { Handlers } from '../http/contract.ts';
import type { EmbedService } from './embed.service.ts';
import type { PlayerPage } from './player-page.ts';

export function embedRoutes(embed: EmbedService, page: PlayerPage) {
  return {
    getEmbedPage: async (req, res) => {
      page.send(res, await embed.content(...addressOf(req), req.query.token));
    },

    getEmbedState: async (req, res) => {
      res.json(await embed.state(...addressOf(req), req.query.token));
    },

    getOEmbed: async (req, res) => {
      const { url, format, maxwidth = Infinity, maxheight = Infinity } = req.query;
      if (format !== 'json') throw new Problem('format_not_supported', 'The only format is json.');
      res.json(await embed.oEmbed(String(url), { width: Number(maxwidth), height: Number(maxheight) }));
    },
  } satisfies Handlers;
}

function addressOf(req: Request): [workspaceId: string, videoId: string] {
  return [String(req.params.tenant), String(req.params.video)];
}
