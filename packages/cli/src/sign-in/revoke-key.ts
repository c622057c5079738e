import { createClient, FramelaneError } from '@framelane/client';
import type { Profile } from '../profiles/profile-store.ts';

/** Revokes the key that a sign-in created. It is no error if the key is not valid any more. */
export async function revokeKey(profile: Profile, signal: AbortSignal): Promise<void> {
  if (profile.apiKeyId === undefined) return;
  try {
    await createClient(profile).apiKeys.revoke(profile.apiKeyId, { signal, retries: 1 });
  } catch (error) {
    const code = error instanceof FramelaneError ? error.code : '';
    if (!['revoked_api_key', 'expired_api_key', 'invalid_api_key', 'api_key_not_found'].includes(code))
      throw error;
  }
}
