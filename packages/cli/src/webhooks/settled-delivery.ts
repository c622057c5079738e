import { setTimeout } from 'node:timers/promises';
import type { FramelaneClient, Schemas } from '@framelane/client';

const POLL_MS = 250;

/** Waits until a delivery of a test event, which is attempted once, has its result. */
export async function settledDelivery(
  client: FramelaneClient,
  delivery: Schemas['WebhookDelivery'],
  webhookId: string,
  signal: AbortSignal,
): Promise<Schemas['WebhookDelivery']> {
  let current = delivery;
  while (current.nextAttemptAt !== null) {
    await setTimeout(POLL_MS, undefined, { signal });
    for await (const each of client.webhooks.listDeliveries(webhookId, {}, { signal })) {
      if (each.id !== delivery.id) continue;
      current = each;
      break;
    }
  }
  return current;
}
