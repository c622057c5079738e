import { sql, type UpdateObject } from 'kysely';
import type { Backlog } from '../db/backlog.ts';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import type {
  NewWebhookAttempt,
  Schema,
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookEventKind,
} from '../db/schema.ts';

/** A delivery and the type of what it delivers. */
export type DeliveryWithType = WebhookDeliveryRow & { event_type: WebhookEventKind };

/** A delivery that is due, with what is to be sent. */
export type DueDelivery = DeliveryWithType & { payload: string };

/** Rows changed by one statement, so that it stays far within its time however many there are. */
const PIECE = 1000;

/** Adds an event; its payload is kept as it is, so that every attempt sends the same bytes. */
export async function insertEvent(
  db: Database,
  event: { id: string; workspaceId: string; type: WebhookEventKind; payload: string },
): Promise<void> {
  await db
    .insertInto('webhook_events')
    .values({ id: event.id, workspace_id: event.workspaceId, type: event.type, payload: event.payload })
    .execute();
}

/** Adds a delivery, its first attempt due after the delay. */
export async function insertDelivery(
  db: Database,
  delivery: { id: string; eventId: string; endpointId: string; delaySeconds: number },
): Promise<void> {
  await db
    .insertInto('webhook_deliveries')
    .values({
      id: delivery.id,
      event_id: delivery.eventId,
      endpoint_id: delivery.endpointId,
      next_attempt_at: inSeconds(delivery.delaySeconds),
    })
    .execute();
}

/** What is due at an endpoint, longest due first. */
export async function findDueDeliveries(
  db: Database,
  endpointId: string,
  limit: number,
): Promise<DueDelivery[]> {
  return deliveries(db)
    .select('webhook_events.payload')
    .where('endpoint_id', '=', endpointId)
    .where('next_attempt_at', '<=', sql<Date>`now()`)
    .orderBy('next_attempt_at')
    .orderBy('webhook_deliveries.id')
    .limit(limit)
    .execute();
}

/** When the next attempt at an endpoint is due, if there is one: seconds from now, below zero when overdue. */
export async function secondsToNextAttempt(db: Database, endpointId: string): Promise<number | null> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select(
      sql<number | null>`extract(epoch from min(next_attempt_at) - clock_timestamp())::float8`.as('seconds'),
    )
    .where('endpoint_id', '=', endpointId)
    .where('next_attempt_at', 'is not', null)
    .executeTakeFirst();
  return row?.seconds ?? null;
}

/** The deliveries that are still to be attempted: those due by now, and how many are due later. */
export async function findBacklog(db: Database): Promise<{ due: Backlog; scheduled: number }> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select([
      sql<number>`count(*) filter (where next_attempt_at <= now())`.as('due'),
      sql<number>`count(*) filter (where next_attempt_at > now())`.as('scheduled'),
      sql<number>`greatest(extract(epoch from now() - min(next_attempt_at)), 0)::float8`.as('dueSeconds'),
    ])
    .where('next_attempt_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return { due: { count: row.due, oldestSeconds: row.dueSeconds }, scheduled: row.scheduled };
}

/** Enabled endpoints with a delivery that has been due for so long and that nobody holds a lease on. */
export async function findOverdueEndpoints(
  db: Database,
  overdueSeconds: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .innerJoin('webhook_deliveries', 'endpoint_id', 'webhook_endpoints.id')
    .select('webhook_endpoints.id')
    .distinct()
    .where('next_attempt_at', '<', inSeconds(-overdueSeconds))
    .where('enabled', '=', true)
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', sql<Date>`now()`)]))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Disabled endpoints with deliveries that should have been given up by whoever disabled them. */
export async function findUnsettledEndpoints(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('enabled', '=', false)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_deliveries')
          .select('webhook_deliveries.id')
          .whereRef('endpoint_id', '=', 'webhook_endpoints.id')
          .where('next_attempt_at', 'is not', null),
      ),
    )
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** A delivery of this endpoint. */
export async function findDelivery(
  db: Database,
  endpointId: string,
  id: string,
): Promise<DeliveryWithType | undefined> {
  return deliveries(db)
    .where('webhook_deliveries.id', '=', id)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
}

/** The deliveries of an endpoint. */
export async function listDeliveries(
  db: Database,
  endpointId: string,
  page: PageRequest,
): Promise<DeliveryWithType[]> {
  const ofEndpoint = deliveries(db).where('endpoint_id', '=', endpointId);
  return keysetPage(ofEndpoint, 'webhook_deliveries', page).execute();
}

/** The delivery last attempted at each of these endpoints. */
export async function findLastDeliveries(
  db: Database,
  endpointIds: readonly string[],
): Promise<DeliveryWithType[]> {
  if (endpointIds.length === 0) return [];
  return db
    .selectFrom(sql<{ endpoint: string }>`unnest(${endpointIds}::text[])`.as<'wanted'>(sql`wanted(endpoint)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .innerJoin('webhook_events', 'webhook_events.id', 'event_id')
          .selectAll('webhook_deliveries')
          .select('webhook_events.type as event_type')
          .whereRef('endpoint_id', '=', 'wanted.endpoint')
          .where('last_attempt_at', 'is not', null)
          .orderBy('last_attempt_at', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .selectAll('last')
    .execute();
}

/** Every attempt at these deliveries, oldest first. */
export async function findAttempts(
  db: Database,
  deliveryIds: readonly string[],
): Promise<WebhookAttemptRow[]> {
  if (deliveryIds.length === 0) return [];
  return db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('number')
    .execute();
}

/**
 * Counts an attempt as the one with this number. Resolves with whether this call did: one that was overtaken by another
 * with the same number changes nothing.
 */
export async function countAttempt(
  db: Database,
  deliveryId: string,
  number: number,
  values: UpdateObject<Schema, 'webhook_deliveries'>,
): Promise<boolean> {
  const result = await db
    .updateTable('webhook_deliveries')
    .set({ ...values, attempts: number })
    .where('id', '=', deliveryId)
    .where('attempts', '=', number - 1)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function insertAttempt(db: Database, attempt: NewWebhookAttempt): Promise<void> {
  await db.insertInto('webhook_attempts').values(attempt).execute();
}

/**
 * Gives up every delivery of an endpoint that is still to be attempted, as long as it is disabled. Not for a transaction:
 * there may be many, and their locks are for a moment only.
 */
export async function giveUpDeliveries(db: Database, endpointId: string): Promise<void> {
  await inPieces(async () => {
    const result = await db
      .updateTable('webhook_deliveries')
      .set({ status: 'failed', next_attempt_at: null, failure: 'webhook_disabled' })
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('endpoint_id', 'in', (of) =>
            of
              .selectFrom('webhook_endpoints')
              .select('webhook_endpoints.id')
              .where('webhook_endpoints.id', '=', endpointId)
              .where('enabled', '=', false),
          )
          .where('next_attempt_at', 'is not', null)
          .limit(PIECE),
      )
      .executeTakeFirst();
    return result.numUpdatedRows;
  });
}

/** Deletes every delivery of an endpoint with its attempts. Not for a transaction either. */
export async function deleteDeliveries(db: Database, endpointId: string): Promise<void> {
  await inPieces(async () => {
    const result = await db
      .deleteFrom('webhook_deliveries')
      .where('id', 'in', (eb) =>
        eb.selectFrom('webhook_deliveries').select('id').where('endpoint_id', '=', endpointId).limit(PIECE),
      )
      .executeTakeFirst();
    return result.numDeletedRows;
  });
}

/** Repeats a statement until it changes less than a whole piece. */
async function inPieces(change: () => Promise<bigint>): Promise<void> {
  while ((await change()) >= PIECE);
}

/** Makes a delivery due now, with a whole round of attempts before it. */
export async function renewDelivery(db: Database, id: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({
      status: sql`case attempts when 0 then 'pending' else 'retrying' end`,
      failures: 0,
      next_attempt_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute();
}

/** Deletes up to `limit` events of that age with their deliveries, if none of those is still to be attempted. */
export async function deleteOldEvents(db: Database, olderThanDays: number, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('webhook_events')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_events as old')
        .select('old.id')
        .where('old.created_at', '<', sql<Date>`now() - make_interval(days => ${olderThanDays})`)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('webhook_deliveries')
                .select('webhook_deliveries.id')
                .whereRef('event_id', '=', 'old.id')
                .where('next_attempt_at', 'is not', null),
            ),
          ),
        )
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

export function inSeconds(seconds: number) {
  return sql<Date>`now() + make_interval(secs => ${seconds})`;
}

function deliveries(db: Database) {
  return db
    .selectFrom('webhook_deliveries')
    .innerJoin('webhook_events', 'webhook_events.id', 'event_id')
    .selectAll('webhook_deliveries')
    .select('webhook_events.type as event_type');
}
