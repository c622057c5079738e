import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** A new signing secret. */
export function newEndpointSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** A secret in the form of Standard Webhooks, which owners see. */
export function formatEndpointSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}

/** The headers that prove the sender and the time of a message (Standard Webhooks 1.0), with a signature for each secret. */
export function signedHeaders(
  message: { id: string; sentAt: Date; body: string },
  secrets: readonly Uint8Array[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const { id, sentAt, body } = message;
  const signatures = secrets.map((secret) => new Webhook(secret, { format: 'raw' }).sign(id, sentAt, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}
