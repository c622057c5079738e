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
): Record<'getWhoami' | 'createApiKey' | 'listApiKeys' | 'revokeApiKey', RequestHandler> {
  return {
    getWhoami: (req, res) => {
      const key = apiKeyOf(req);
      const whoami: components['schemas']['Whoami'] = {
        workspace: { id: key.workspace_id, name: key.workspace_name },
        apiKey: {
          id: key.id,
          name: key.name,
          prefix: key.prefix,
          last4: key.last4,
          environment: key.environment,
          expiresAt: key.expires_at?.toISOString() ?? null,
          lastUsedAt: key.last_used_at?.toISOString() ?? null,
        },
        environment: key.environment,
        permissions: key.permissions,
      };
      res.json(whoami);
    },

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
