import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import type { DisabledReason, WebhookEndpointRow, WebhookEventType } from '../db/schema.ts';

/** The settings that the owner of an endpoint chooses. */
export type EndpointSettings = {
  url: string;
  events: WebhookEventType[];
  description: string | null;
  enabled: boolean;
};

/** Serializes the transactions that add endpoints to a workspace, until this one ends. */
export async function lockEndpointsOf(trx: Database, workspaceId: string): Promise<void> {
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

/** Adds an endpoint; its secret is sealed. */
export async function insertEndpoint(
  db: Database,
  endpoint: EndpointSettings & { id: string; workspaceId: string; secret: string },
): Promise<WebhookEndpointRow> {
  const { workspaceId, ...values } = endpoint;
  return db
    .insertInto('webhook_endpoints')
    .values({
      ...values,
      workspace_id: workspaceId,
      disabled_reason: endpoint.enabled ? null : 'manual',
    })
    .returningAll()
    .executeTakeFirstOrThrow();
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

/** An endpoint, locked until the transaction ends. Lock an endpoint before you update it. */
export async function lockEndpoint(trx: Database, id: string): Promise<WebhookEndpointRow | undefined> {
  return trx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** One page of the endpoints of a workspace, and the row after it. */
export async function listEndpoints(
  db: Database,
  workspaceId: string,
  page: PageRequest,
): Promise<WebhookEndpointRow[]> {
  const endpoints = db.selectFrom('webhook_endpoints').selectAll().where('workspace_id', '=', workspaceId);
  return keysetPage(endpoints, 'webhook_endpoints', page).execute();
}

/**
 * Ids of the enabled endpoints that subscribe to this type of event. None is deleted before the transaction ends. The key share lock does
 * not conflict with other changes, so an endpoint can be disabled meanwhile; its delivery then fails when it is due.
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

/** Changes what is given; `reset` clears the health of the endpoint. */
export async function changeEndpoint(
  trx: Database,
  id: string,
  { enabled, ...values }: Partial<EndpointSettings>,
  { reset }: { reset: boolean },
): Promise<WebhookEndpointRow> {
  return trx
    .updateTable('webhook_endpoints')
    .set({
      ...values,
      ...(enabled === true && { enabled, disabled_reason: null }),
      ...(enabled === false && { enabled, disabled_reason: sql`coalesce(disabled_reason, 'manual')` }),
      ...(reset && { consecutive_failures: 0, failing_since: null, last_attempt_at: null }),
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Disables an endpoint. Once that is committed, the caller ends its open deliveries as failed. */
export async function disableEndpoint(trx: Database, id: string, reason: DisabledReason): Promise<void> {
  await trx
    .updateTable('webhook_endpoints')
    .set({ enabled: false, disabled_reason: reason, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}

/** Replaces the sealed secret. The old secret also signs for some hours. */
export async function replaceSecret(
  trx: Database,
  id: string,
  secret: string,
  oldSignsForHours: number,
): Promise<WebhookEndpointRow & { previous_secret_expires_at: Date }> {
  return trx
    .updateTable('webhook_endpoints')
    .set((eb) => ({
      secret,
      previous_secret: eb.ref('secret'),
      previous_secret_expires_at: sql<Date>`now() + make_interval(hours => ${oldSignsForHours})`,
      updated_at: sql`now()`,
    }))
    .where('id', '=', id)
    .returningAll()
    .$narrowType<{ previous_secret_expires_at: Date }>()
    .executeTakeFirstOrThrow();
}

/** Stores the health of an endpoint after an attempt. */
export async function recordHealth(
  trx: Database,
  id: string,
  health: { consecutiveFailures: number; failingSince: Date | null; attemptedAt: Date },
): Promise<void> {
  await trx
    .updateTable('webhook_endpoints')
    .set({
      consecutive_failures: health.consecutiveFailures,
      failing_since: health.failingSince,
      last_attempt_at: health.attemptedAt,
    })
    .where('id', '=', id)
    .execute();
}

/** Deletes an endpoint with its remaining deliveries. */
export async function deleteEndpoint(db: Database, id: string): Promise<void> {
  await db.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
}
