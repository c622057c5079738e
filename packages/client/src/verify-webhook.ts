import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { WebhookEvent } from './contract.ts';
import { FramelaneError } from './framelane-error.ts';

/** Headers of `fetch` or of Node's `http`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

const SIGNED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Verifies a request to an endpoint and returns its event. `payload` is the raw body, because the signature is over its bytes. Throws a
 * FramelaneError with the code `webhook_not_verified` if a header is missing, the signature is not valid, or its time differs from now by
 * more than five minutes.
 */
export function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): WebhookEvent {
  const text = typeof payload === 'string' ? payload : new TextDecoder().decode(payload);
  const signed = Object.fromEntries(SIGNED.map((name) => [name, read(headers, name)]));
  try {
    return new Webhook(secret).verify(text, signed) as WebhookEvent;
  } catch (cause) {
    if (!(cause instanceof WebhookVerificationError)) throw cause;
    throw new FramelaneError(cause.message, { code: 'webhook_not_verified', cause });
  }
}

function read(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}
