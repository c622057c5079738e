import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { DisabledReason, WebhookEndpointRow } from '../db/schema.ts';
import { giveUpDeliveries } from './deliveries.store.ts';
import { updateEndpoint } from './endpoints.store.ts';

/** Disables an endpoint; what it has not received yet, it will not receive. */
export async function disableEndpoint(
  trx: Database,
  id: string,
  reason: DisabledReason,
): Promise<WebhookEndpointRow> {
  await giveUpDeliveries(trx, id);
  return updateEndpoint(trx, id, { enabled: false, disabled_reason: reason, updated_at: sql`now()` });
}
