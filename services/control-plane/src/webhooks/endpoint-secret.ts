import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** A new signing secret. */
export function newWebhookSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** A secret as its owner sees it, and as libraries for Standard Webhooks take it. */
export function showWebhookSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}

/** The headers that let a receiver check who sent a message and that nobody sent it before (Standard Webhooks 1.0). */
export function signedHeaders(
  message: { id: string; sentAt: Date; body: string },
  secrets: readonly Uint8Array[],
): Record<string, string> {
  const timestamp = String(Math.floor(message.sentAt.getTime() / 1000));
  const content = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`,
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
