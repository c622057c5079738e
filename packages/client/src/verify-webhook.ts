import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { WebhookEvent } from './contract.ts';
import { FramelaneError } from './framelane-error.ts';

/** As `fetch` and as Node's `http` have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

const SIGNED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * The event in a request that Framelane sent to a webhook, signed within the last five minutes. `payload` is the body as
 * it came: parsed and written anew, it would not be what was signed. Throws a FramelaneError with the code
 * `webhook_not_verified` if it is not signed with the webhook's secret.
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
