import type { Permission } from '../db/schema.ts';

/** Every permission there is. */
export const PERMISSIONS: readonly Permission[] = [
  'videos:read',
  'videos:write',
  'webhooks:read',
  'webhooks:write',
  'api_keys:read',
  'api_keys:write',
  'usage:read',
];
