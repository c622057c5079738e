import { sql, type UpdateObject } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue as isRowDue, secondsSince } from '../db/due-rows.ts';
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

/** A delivery that is claimed for one attempt, with what to send and where to, as both are at the claim. */
export type ClaimedDelivery = DeliveryWithType & {
  /** The end of the claim is also its token. */
  claimed_until: Date;
  /** When the attempt begins, by the clock of the database. */
  claimed_at: Date;
  payload: string;
  url: string;
  /** Sealed; the replaced one is null unless it still signs. */
  secret: string;
  previous_secret: string | null;
};

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

/** Whether a delivery is due that nobody has claimed. */
export async function isAnyDue(db: Database): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from webhook_deliveries where ${isDue}) as due`.execute(db);
  return rows[0]?.due ?? false;
}

/**
 * Claims up to `limit` due deliveries to enabled endpoints, never more than `perEndpoint` to one of them at a time. When
 * there are more, the endpoints with the fewest claims come first, and what has been due the longest at each. Claims are
 * made one after the other, whoever makes them, because each counts those before.
 */
export async function claimDueDeliveries(
  db: Database,
  { leaseSeconds, limit, perEndpoint }: { leaseSeconds: number; limit: number; perEndpoint: number },
): Promise<ClaimedDelivery[]> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('webhook claims', 0))`.execute(trx);
    const { rows } = await sql<ClaimedDelivery>`
      with candidates as (
        select due.id, claims.count + row_number() over (partition by endpoint.id order by next_attempt_at) as turn
        from webhook_endpoints endpoint
        cross join lateral (
          select count(*) from webhook_deliveries
          where endpoint_id = endpoint.id and claimed_until > now()
        ) claims
        cross join lateral (
          select id, next_attempt_at from webhook_deliveries
          where endpoint_id = endpoint.id and ${isDue}
          order by next_attempt_at
          limit greatest(${perEndpoint} - claims.count, 0)
        ) due
        where enabled
        order by turn, next_attempt_at
        limit ${limit}
      ), unlocked as (
        select id as unlocked_id from webhook_deliveries
        where id in (select id from candidates) and ${isDue}
        for update skip locked
      )
      update webhook_deliveries delivery
      set claimed_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      from unlocked, webhook_events event, webhook_endpoints endpoint
      where delivery.id = unlocked_id and event.id = event_id and endpoint.id = endpoint_id
      returning delivery.*, clock_timestamp() as claimed_at, event.type as event_type, payload, url, secret,
        case when previous_secret_expires_at > now() then previous_secret end as previous_secret`.execute(
      trx,
    );
    return rows;
  });
}

/** The delivery, locked until the transaction ends, if this claim on it still holds. */
export async function lockClaimed(
  trx: Database,
  { id, claimed_until }: ClaimedDelivery,
): Promise<WebhookDeliveryRow | undefined> {
  return trx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('claimed_until', '=', claimed_until)
    .forUpdate()
    .executeTakeFirst();
}

/** Ends a claim without an attempt. */
export async function releaseClaim(db: Database, { id, claimed_until }: ClaimedDelivery): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: null })
    .where('id', '=', id)
    .where('claimed_until', '=', claimed_until)
    .execute();
}

/** The deliveries that are still to be attempted: those due by now, and how many are due later. */
export async function findBacklog(db: Database): Promise<{ due: Backlog; scheduled: number }> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select([
      sql<number>`count(*) filter (where next_attempt_at <= now())`.as('due'),
      sql<number>`count(*) filter (where next_attempt_at > now())`.as('scheduled'),
      secondsSince(sql`min(next_attempt_at)`).as('dueSeconds'),
    ])
    .where('next_attempt_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return { due: { count: row.due, oldestSeconds: row.dueSeconds }, scheduled: row.scheduled };
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

export async function updateDelivery(
  db: Database,
  id: string,
  values: UpdateObject<Schema, 'webhook_deliveries'>,
): Promise<void> {
  await db.updateTable('webhook_deliveries').set(values).where('id', '=', id).execute();
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

/** Makes a delivery due now, with a new round of attempts. It begins after the attempt under way, if there is one. */
export async function renewDelivery(db: Database, id: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({
      round: sql`round + 1`,
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

/** Due, and not claimed, or no longer. */
const isDue = isRowDue('next_attempt_at', 'claimed_until');

function deliveries(db: Database) {
  return db
    .selectFrom('webhook_deliveries')
    .innerJoin('webhook_events', 'webhook_events.id', 'event_id')
    .selectAll('webhook_deliveries')
    .select('webhook_events.type as event_type');
}
