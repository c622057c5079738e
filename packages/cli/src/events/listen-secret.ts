import { createHmac } from 'node:crypto';

/**
 * The secret that signs forwarded events. It follows from the API key, so that it is the same at the next start and nothing is stored. It does
 * not reveal the key.
 */
export function listenSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('framelane listen').digest('base64')}`;
}
