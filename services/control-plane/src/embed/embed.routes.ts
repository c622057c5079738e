import { routeNotFound } from '@framelane/service-kit/middleware';
import { Problem } from '@framelane/service-kit/problem';
import compression from 'compression';
import { type Request, type RequestHandler, Router } from 'express';
import type { EmbedService } from './embed.service.ts';
import type { PlayerPage } from './player-page.ts';

export function embedRoutes(
  embed: EmbedService,
  page: PlayerPage,
): Record<'getEmbedPage' | 'getEmbedState' | 'getOEmbed', RequestHandler> {
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
  };
}

/** The files that the player page loads. Their names contain a hash of their content. */
export function playerFiles(page: PlayerPage): Router {
  const files = Router();
  files.use(compression());
  files.get('/:name', (req, res, next) => {
    const root = page.build()?.files;
    if (root === undefined) return next();
    res.sendFile(req.params.name, { root, immutable: true, maxAge: '1y' }, (error) => {
      if (error !== undefined && !res.headersSent) next();
    });
  });
  return files.use(routeNotFound);
}

function addressOf(req: Request): [workspaceId: string, videoId: string] {
  return [String(req.params.tenant), String(req.params.video)];
}
