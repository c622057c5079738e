import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import { readRequestFilter } from './request-filter.ts';
import type { RequestLogService } from './request-log.service.ts';

export function requestLogRoutes(requests: RequestLogService, { publicUrl }: { publicUrl: string }) {
  return {
    listRequests: async (req, res) => {
      const page = await requests.list(
        credentialOf(req).workspace_id,
        readRequestFilter(req.query),
        pageOf(req),
      );
      sendPage(req, res, publicUrl, page);
    },
    getRequest: async (req, res) => {
      res.json(await requests.get(credentialOf(req).workspace_id, String(req.params.id)));
    },
    listRequestErrors: async (req, res) => {
      res.json({ data: await requests.errors(credentialOf(req).workspace_id, readRequestFilter(req.query)) });
    },
  } satisfies Handlers;
}
