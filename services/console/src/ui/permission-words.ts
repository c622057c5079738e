import type { Schemas } from '@framelane/client';

/** What each permission allows. The type requires all of the contract. */
const WORDS: Record<Schemas['Permission'], string> = {
  'videos:read': 'View videos',
  'videos:write': 'Upload, edit and delete videos',
  'webhooks:read': 'View webhooks',
  'webhooks:write': 'Create, edit and delete webhooks',
  'api_keys:read': 'View keys and sessions',
  'api_keys:write': 'Create and revoke keys, end sessions',
  'usage:read': 'View usage',
  'requests:read': 'View the request log',
  'audit:read': 'View the audit log',
  'analytics:read': 'View what is watched',
};

/** What a permission allows, in words. Those of later versions have only their name. */
export function permissionWords(permission: string): string {
  return Object.entries(WORDS).find(([name]) => name === permission)?.[1] ?? permission;
}
