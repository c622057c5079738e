import type { components } from '@framelane/openapi/types';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { toCurrentKey } from './api-key-record.ts';
import type { ApiKeysService, CreatedApiKey } from './api-keys.service.ts';

export function apiKeyRoutes(keys: ApiKeysService, publicUrl: string, idempotent: Idempotent) {
  return {
    getWhoami: (req, res) => {
      const credential = credentialOf(req);
      const whoami: components['schemas']['Whoami'] = {
        workspace: { id: credential.workspace_id, name: credential.workspace_name },
        apiKey: credential.kind === 'key' ? toCurrentKey(credential) : null,
        environment: credential.environment,
        permissions: credential.permissions,
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
        return keys.createAs(credentialOf(req), wanted);
      },
      response: (created) => ({ status: 201, body: created }),
      committed: (created, req) => keys.logCreated(created, credentialOf(req).workspace_id),
      oneTime: ['secret'],
    }),

    listApiKeys: async (req, res) => {
      sendPage(req, res, publicUrl, await keys.list(credentialOf(req).workspace_id, pageOf(req)));
    },

    revokeApiKey: async (req, res) => {
      await keys.revokeAs(credentialOf(req), String(req.params.id));
      res.status(204).end();
    },
  } satisfies Handlers;
}
