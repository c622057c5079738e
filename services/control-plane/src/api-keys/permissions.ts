import type { Permission } from '../db/schema.ts';

/** All permissions. */
export const PERMISSIONS: readonly Permission[] = [
  'videos:read',
  'videos:write',
  'webhooks:read',
  'webhooks:write',
  'api_keys:read',
  'api_keys:write',
  'usage:read',
  'requests:read',
  'audit:read',
  'analytics:read',
];
