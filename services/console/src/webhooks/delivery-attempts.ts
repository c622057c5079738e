import type { Schemas } from '@framelane/client';
import { api } from '../api/api.ts';

const POLL_MS = 300;
/** An endpoint may take this long before the page goes back to its ordinary polls. */
const MAX_POLLS = 30;

/** Waits until an attempt has been made for a delivery that was just requested, but not for ever. */
export async function untilAttempted(
  webhookId: string,
  { id, attempts }: Schemas['WebhookDelivery'],
): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const latest = await api.webhooks.getDelivery(webhookId, id);
    if (latest.attempts > attempts) return;
  }
}
