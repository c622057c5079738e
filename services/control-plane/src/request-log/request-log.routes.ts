import type { operations } from '@framelane/openapi/types';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { RequestLogService } from './request-log.service.ts';
import type { RequestFilter } from './request-log.store.ts';

type Query = operations['listRequests']['parameters']['query'] & {};

export function requestLogRoutes(requests: RequestLogService, { publicUrl }: { publicUrl: string }) {
  return {
    listRequests: async (req, res) => {
      const page = await requests.list(credentialOf(req).workspace_id, filterOf(req), pageOf(req));
      sendPage(req, res, publicUrl, page);
    },
    getRequest: async (req, res) => {
      res.json(await requests.get(credentialOf(req).workspace_id, String(req.params.id)));
    },
    listRequestErrors: async (req, res) => {
      res.json({ data: await requests.errors(credentialOf(req).workspace_id, filterOf(req)) });
    },
  } satisfies Handlers;
}

function filterOf(req: Request): RequestFilter {
  const query = req.query as unknown as Query;
  return {
    statusClass: query.status === undefined ? undefined : Number(query.status[0]),
    method: query.method,
    pathPrefix: query.path,
    keyId: query.keyId,
    code: query.code,
    requestId: query.requestId,
    createdAfter: query.createdAfter === undefined ? undefined : new Date(query.createdAfter),
    createdBefore: query.createdBefore === undefined ? undefined : new Date(query.createdBefore),
  };
}
