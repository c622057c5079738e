import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { ApiKeysService, CreatedApiKey } from './api-keys.service.ts';

export function apiKeyRoutes(
  keys: ApiKeysService,
  publicUrl: string,
  idempotent: Idempotent,
): Record<'createApiKey' | 'listApiKeys' | 'revokeApiKey', RequestHandler> {
  return {
    createApiKey: idempotent<CreatedApiKey>({
      prepare: async (req) => {
        const body: components['schemas']['ApiKeyRequest'] = req.body;
        const wanted = {
          name: body.name,
          environment: body.environment,
          permissions: body.permissions,
          expiresAt: typeof body.expiresAt === 'string' ? new Date(body.expiresAt) : body.expiresAt,
        };
        return keys.createAs(apiKeyOf(req), wanted);
      },
      response: (created) => ({ status: 201, body: created }),
      committed: (created, req) => keys.logCreated(created, apiKeyOf(req).workspace_id),
      oneTime: ['secret'],
    }),

    listApiKeys: async (req, res) => {
      sendPage(req, res, publicUrl, await keys.list(apiKeyOf(req).workspace_id, pageOf(req)));
    },

    revokeApiKey: async (req, res) => {
      await keys.revokeAs(apiKeyOf(req), String(req.params.id));
      res.status(204).end();
    },
  };
}
