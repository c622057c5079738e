import { sql, type UpdateObject } from 'kysely';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import type {
  DisabledReason,
  NewWebhookEndpoint,
  Schema,
  WebhookEndpointRow,
  WebhookEventType,
} from '../db/schema.ts';

/** Lets one transaction at a time add to the webhooks of a workspace. */
export async function lockWebhooksOf(trx: Database, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks:${workspaceId}`}, 0))`.execute(trx);
}

export async function countEndpoints(db: Database, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('webhook_endpoints')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertEndpoint(
  db: Database,
  endpoint: NewWebhookEndpoint,
): Promise<WebhookEndpointRow> {
  return db.insertInto('webhook_endpoints').values(endpoint).returningAll().executeTakeFirstOrThrow();
}

export async function findEndpoint(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<WebhookEndpointRow | undefined> {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

/** An endpoint, its row locked until the transaction ends. Whatever changes it begins here. */
export async function lockEndpoint(trx: Database, id: string): Promise<WebhookEndpointRow | undefined> {
  return trx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The endpoints of a workspace. */
export async function listEndpoints(
  db: Database,
  workspaceId: string,
  page: PageRequest,
): Promise<WebhookEndpointRow[]> {
  const endpoints = db.selectFrom('webhook_endpoints').selectAll().where('workspace_id', '=', workspaceId);
  return keysetPage(endpoints, 'webhook_endpoints', page).execute();
}

/**
 * Ids of the enabled endpoints that want this event. None is deleted before the transaction ends. One that is disabled
 * meanwhile has the delivery given up by maintenance: events wait for no change of an endpoint, nor does one wait for them.
 */
export async function findSubscribers(
  trx: Database,
  workspaceId: string,
  type: WebhookEventType,
): Promise<string[]> {
  const rows = await trx
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('enabled', '=', true)
    .where(sql<boolean>`${type} = any(events)`)
    .orderBy('id')
    .forKeyShare()
    .execute();
  return rows.map(({ id }) => id);
}

export async function updateEndpoint(
  db: Database,
  id: string,
  values: UpdateObject<Schema, 'webhook_endpoints'>,
): Promise<WebhookEndpointRow> {
  return db
    .updateTable('webhook_endpoints')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Disables an endpoint. What it has not received yet has to be given up once that is committed. */
export async function disableEndpoint(
  trx: Database,
  id: string,
  reason: DisabledReason,
): Promise<WebhookEndpointRow> {
  return updateEndpoint(trx, id, { enabled: false, disabled_reason: reason, updated_at: sql`now()` });
}

/** Deletes an endpoint, and the deliveries it still has. */
export async function deleteEndpoint(db: Database, id: string): Promise<void> {
  await db.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
}
