import { Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import type { ApiKeyRow } from '../db/schema.ts';
import { type Authenticate, missingApiKey } from '../http/request-validation.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import type { RequestLimit } from '../rate-limits/request-limit.ts';

/** The key of an authenticated request, with the name of its workspace. */
export type VerifiedKey = ApiKeyRow & { workspace_name: string };

declare global {
  namespace Express {
    interface Request {
      /** The verified key, on operations that require one. */
      apiKey?: VerifiedKey;
    }
  }
}

/**
 * Authenticates a request. Checks in this order: the key (401, or 429 after too many invalid keys), the rate limit of the key
 * (429), the workspace header (400), its workspace (403) and the permissions (403).
 */
export function authentication(
  keys: { verify(secret: string): Promise<VerifiedKey> },
  limits: { requests: RequestLimit; failures: FailureLimit },
): Authenticate {
  return async (req, permissions) => {
    const secret = /^Bearer +(\S+)$/i.exec(req.get('authorization') ?? '')?.[1];
    if (secret === undefined) throw missingApiKey();
    const key = await limits.failures.guard(clientNetwork(req), secret, () => keys.verify(secret));
    limits.requests.count(key.id, req);
    requireWorkspace(req.get('x-svc-workspace'), key);
    requirePermissions(permissions, key);
    req.apiKey = key;
  };
}

/** The key of an authenticated request. */
export function apiKeyOf(req: Request): VerifiedKey {
  if (req.apiKey === undefined) throw new Error('The operation has no security in the contract');
  return req.apiKey;
}

function requireWorkspace(workspaceId: string | undefined, key: VerifiedKey): void {
  if (workspaceId === undefined || workspaceId === '') {
    throw new Problem('workspace_header_missing', 'Name your workspace in the header X-Svc-Workspace.');
  }
  if (workspaceId !== key.workspace_id) {
    throw new Problem(
      'workspace_mismatch',
      'This API key does not belong to the workspace in X-Svc-Workspace.',
    );
  }
}

function requirePermissions(needed: readonly string[], key: VerifiedKey): void {
  const missing = needed.filter((permission) => !key.permissions.some((held) => held === permission));
  if (missing.length > 0) {
    throw new Problem('insufficient_permissions', `This API key lacks the permission ${missing.join(', ')}.`);
  }
}
