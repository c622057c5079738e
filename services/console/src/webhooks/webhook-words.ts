import type { Schemas } from '@framelane/client';

type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];

/** The types of events, with what each means. */
export const EVENTS: Readonly<Record<Schemas['WebhookEventType'], string>> = {
  'video.ready': 'A video can be played',
  'video.captions.ready': 'Captions were made by speech recognition',
  'video.download.ready': 'A file for download is ready',
  'video.download.failed': 'A file for download could not be prepared',
  'video.codec.ready': 'A video has a further codec',
  'video.codec.failed': 'A video does not get a codec that was asked for',
  'video.failed': 'A video has failed',
  'video.deleted': 'A video was deleted',
};

export const EVENT_TYPES = Object.keys(EVENTS) as Schemas['WebhookEventType'][];

/** The colours of badges. */
export const WEBHOOK_COLOURS = {
  pending: 'gray',
  healthy: 'teal',
  failing: 'red',
  disabled: 'gray',
} as const;
export const DELIVERY_COLOURS = {
  pending: 'blue',
  retrying: 'blue',
  succeeded: 'teal',
  failed: 'red',
} as const;

/** The status of a webhook in words. It is pending again after a change of its URL, and when it was enabled. */
export function webhookStatusWords({
  deliveryStatus,
  lastDelivery,
}: Pick<Webhook, 'deliveryStatus' | 'lastDelivery'>): string {
  if (deliveryStatus !== 'pending') return deliveryStatus;
  return lastDelivery === null ? 'not used yet' : 'not used since the change';
}

/** Why a webhook is disabled, and what to do; undefined while it is enabled. */
export function reasonOf({ disabledReason }: Pick<Webhook, 'disabledReason'>): string | undefined {
  switch (disabledReason) {
    case 'manual':
      return 'Somebody disabled it. Events that happen meanwhile are not sent later.';
    case 'gone':
      return 'The endpoint responded with 410 (Gone). Enable the webhook when the endpoint works again.';
    case 'failing':
      return 'Every attempt failed for five days. Repair the endpoint, then enable the webhook.';
    default:
      return undefined;
  }
}

/** The latest attempt of a webhook in words. */
export function lastResultOf({ lastDelivery, consecutiveFailures }: Webhook): string {
  if (lastDelivery === null) return 'No event was sent yet.';
  const result = resultOf(lastDelivery);
  return consecutiveFailures > 1 ? `${result} ${consecutiveFailures} attempts failed in succession.` : result;
}

/** The result of an attempt, or of the latest one of a delivery, in words. */
export function resultOf({
  responseStatus,
  error,
}: Pick<Delivery, 'responseStatus' | 'error'> | Schemas['WebhookAttempt']): string {
  if (error === null)
    return responseStatus === null ? 'No attempt was made yet.' : `Responded with ${responseStatus}.`;
  return responseStatus === null ? error.message : `Responded with ${responseStatus}. ${error.message}`;
}

const SOON_MS = 60_000;

/** Whether an attempt is made now or within a minute. Later retries can be hours away. `now` is a Unix time in milliseconds. */
export function isSoonDue(deliveries: readonly Pick<Delivery, 'nextAttemptAt'>[], now: number): boolean {
  return deliveries.some(
    ({ nextAttemptAt }) => nextAttemptAt !== null && Date.parse(nextAttemptAt) - now < SOON_MS,
  );
}

/** A JSON text with a line for each member; other texts as they are. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A line for each header, by name. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  const names = Object.keys(headers).toSorted();
  return names.map((name) => `${name}: ${headers[name]}`).join('\n');
}
