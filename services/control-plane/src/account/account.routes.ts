import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';

/** What the current key is and may do. */
export const getWhoami: RequestHandler = (req, res) => {
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
};
