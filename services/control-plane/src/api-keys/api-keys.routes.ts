import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import { nextLink, readCursor } from '../http/pagination.ts';
import type { ApiKeysService } from './api-keys.service.ts';

/** Query parameters of the list, after the contract has checked them and filled in defaults. */
type ListQuery = { limit: number; cursor?: string };

export function apiKeyRoutes(
  keys: ApiKeysService,
  publicUrl: string,
): Record<'createApiKey' | 'listApiKeys' | 'revokeApiKey', RequestHandler> {
  return {
    createApiKey: async (req, res) => {
      const body: components['schemas']['ApiKeyRequest'] = req.body;
      const created = await keys.createAs(apiKeyOf(req), {
        name: body.name,
        environment: body.environment,
        permissions: body.permissions,
        expiresAt: body.expiresAt == null ? null : new Date(body.expiresAt),
      });
      res.status(201).json(created);
    },

    listApiKeys: async (req, res) => {
      const { limit, cursor } = req.query as unknown as ListQuery;
      const page = await keys.list(apiKeyOf(req).workspace_id, {
        limit,
        after: cursor === undefined ? undefined : readCursor(cursor),
      });
      if (page.nextCursor !== null) res.set('Link', nextLink(publicUrl, req.originalUrl, page.nextCursor));
      res.json(page);
    },

    revokeApiKey: async (req, res) => {
      await keys.revoke(apiKeyOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },
  };
}
