import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue as isRowDue, secondsSince } from '../db/due-rows.ts';
import { claimable, claimInTurn } from '../db/fair-claims.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import type {
  DeliveryAttemptRow,
  DeliveryFailure,
  WebhookDeliveryRow,
  WebhookEventKind,
} from '../db/schema.ts';

/** A delivery with the type of its event. */
export type DeliveryWithType = WebhookDeliveryRow & { event_type: WebhookEventKind };

/** A delivery claimed for one attempt, with its event and endpoint as they are at the claim. */
export type ClaimedDelivery = DeliveryWithType & {
  /** The end of the claim identifies it. */
  claimed_until: Date;
  /** Start of the attempt, by the clock of the database. */
  claimed_at: Date;
  payload: string;
  traceparent: string | null;
  url: string;
  enabled: boolean;
  /** Sealed. */
  secret: string;
  /** Sealed; null unless it still signs. */
  previous_secret: string | null;
};

/** One attempt of a delivery, as its attempt log shows it. */
export type DeliveryAttempt = {
  number: number;
  at: Date;
  durationMs: number;
  responseStatus: number | null;
  failure: DeliveryFailure | null;
  responseBody: string | null;
  requestHeaders: Record<string, string> | null;
};

/** What an attempt changes in the schedule of its delivery. */
export type ScheduleChange =
  | { status: 'succeeded' | 'failed'; failures: number }
  | { status: 'retrying'; failures: number; retryInSeconds: number };

/** Rows changed by one statement, which keeps each statement far below its time limit. */
const BATCH = 1000;

/** Adds an event. The payload is stored as text, so that every attempt sends the same bytes. */
export async function insertEvent(
  db: Database,
  event: {
    id: string;
    workspaceId: string;
    type: WebhookEventKind;
    payload: string;
    traceparent: string | null;
    videoId: string | null;
  },
): Promise<void> {
  await db
    .insertInto('webhook_events')
    .values({
      id: event.id,
      workspace_id: event.workspaceId,
      type: event.type,
      payload: event.payload,
      traceparent: event.traceparent,
      video_id: event.videoId,
    })
    .execute();
}

/** Deletes the events of a video that no webhook gets. */
export async function deleteUnsentEvents(trx: Database, videoId: string): Promise<void> {
  await trx
    .deleteFrom('webhook_events')
    .where('video_id', '=', videoId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries')
            .select('webhook_deliveries.id')
            .whereRef('event_id', '=', 'webhook_events.id'),
        ),
      ),
    )
    .execute();
}

/** Adds a delivery; its first attempt is due after the delay. */
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

/** Whether any delivery is due and unclaimed. */
export async function isAnyDue(db: Database): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from webhook_deliveries where ${isDue}) as due`.execute(db);
  return rows[0]?.due ?? false;
}

/**
 * Claims up to `limit` due deliveries, at most `perEndpoint` of one endpoint at a time: those of the workspaces with the fewest claims first.
 * Of a workspace, the endpoints with the fewest claims come first, and of each endpoint the delivery that has been due for longest.
 */
export async function claimDueDeliveries(
  db: Database,
  { leaseSeconds, limit, perEndpoint }: { leaseSeconds: number; limit: number; perEndpoint: number },
): Promise<ClaimedDelivery[]> {
  return claimInTurn(db, 'webhook', async (trx) => {
    const { rows } = await sql<ClaimedDelivery>`
      with recursive ${claimable({
        table: 'webhook_deliveries',
        key: ['id'],
        group: 'endpoint_id',
        due: 'next_attempt_at',
        isDue,
        running,
        owner: workspaceOf,
        perGroup: perEndpoint,
        limit,
      })}
      update webhook_deliveries delivery
      set claimed_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      from claimable, webhook_events event, webhook_endpoints endpoint
      where delivery.id = claimable.id and event.id = event_id and endpoint.id = endpoint_id
      returning delivery.*, clock_timestamp() as claimed_at, event.type as event_type, payload, traceparent, url, enabled, secret,
        case when previous_secret_expires_at > now() then previous_secret end as previous_secret`.execute(
      trx,
    );
    return rows;
  });
}

/** The claimed deliveries of an endpoint. */
function running(endpointId: RawBuilder<string>) {
  return sql<number>`
    select count(*) from webhook_deliveries where endpoint_id = ${endpointId} and claimed_until > now()`;
}

function workspaceOf(endpointId: RawBuilder<string>) {
  return sql<string>`(select workspace_id from webhook_endpoints where id = ${endpointId})`;
}

/** Locks a delivery until the transaction ends; undefined when this claim has expired. */
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

/** Open deliveries: those that are due, and the number of those scheduled for later. */
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

/** The body that each attempt of a delivery sends. */
export async function findPayload(db: Database, eventId: string): Promise<string | undefined> {
  const event = await db
    .selectFrom('webhook_events')
    .select('payload')
    .where('id', '=', eventId)
    .executeTakeFirst();
  return event?.payload;
}

/** The deliveries of an endpoint, or those with a status. */
export async function listDeliveries(
  db: Database,
  endpointId: string,
  { status, ...page }: PageRequest & { status: WebhookDeliveryRow['status'] | undefined },
): Promise<DeliveryWithType[]> {
  const ofEndpoint = deliveries(db).where('endpoint_id', '=', endpointId);
  const wanted = status === undefined ? ofEndpoint : ofEndpoint.where('status', '=', status);
  return keysetPage(wanted, 'webhook_deliveries', page).execute();
}

/** The most recently attempted delivery of each endpoint. */
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

/** The attempts of these deliveries, oldest first. */
export async function findDeliveryAttempts(
  db: Database,
  deliveryIds: readonly string[],
): Promise<DeliveryAttemptRow[]> {
  if (deliveryIds.length === 0) return [];
  return db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('number')
    .execute();
}

/**
 * Adds an attempt to its delivery and ends the claim. `change` is undefined when a redelivery was requested meanwhile: its
 * round stays due, unless the delivery was given up since.
 */
export async function recordDeliveryAttempt(
  trx: Database,
  deliveryId: string,
  attempt: DeliveryAttempt,
  change: ScheduleChange | undefined,
): Promise<void> {
  const { number, at, durationMs, responseStatus, failure, responseBody, requestHeaders } = attempt;
  const log = { attempts: number, last_attempt_at: at, response_status: responseStatus, claimed_until: null };
  if (change === undefined) {
    await trx
      .updateTable('webhook_deliveries')
      .set({
        ...log,
        status: sql`case when next_attempt_at is null then status else 'retrying' end`,
        failure: sql`case when next_attempt_at is null then failure else ${failure} end`,
      })
      .where('id', '=', deliveryId)
      .execute();
  } else {
    await trx
      .updateTable('webhook_deliveries')
      .set({
        ...log,
        status: change.status,
        failures: change.failures,
        failure,
        next_attempt_at: change.status === 'retrying' ? inSeconds(change.retryInSeconds) : null,
      })
      .where('id', '=', deliveryId)
      .execute();
  }
  await trx
    .insertInto('delivery_attempts')
    .values({
      delivery_id: deliveryId,
      number,
      at,
      duration_ms: durationMs,
      response_status: responseStatus,
      failure,
      response_body: responseBody,
      request_headers: requestHeaders,
    })
    .execute();
}

/**
 * Gives up the open deliveries of a disabled endpoint. Do not call it in a transaction: there can be many, and each batch
 * locks its rows only briefly.
 */
export async function giveUpDeliveries(db: Database, endpointId: string): Promise<void> {
  await inBatches(async () => {
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
          .limit(BATCH),
      )
      .executeTakeFirst();
    return result.numUpdatedRows;
  });
}

/** Deletes the deliveries of an endpoint with their attempts, in batches like `giveUpDeliveries`. */
export async function deleteDeliveries(db: Database, endpointId: string): Promise<void> {
  await inBatches(async () => {
    const result = await db
      .deleteFrom('webhook_deliveries')
      .where('id', 'in', (eb) =>
        eb.selectFrom('webhook_deliveries').select('id').where('endpoint_id', '=', endpointId).limit(BATCH),
      )
      .executeTakeFirst();
    return result.numDeletedRows;
  });
}

/** Repeats a statement until it changes less than a full batch. */
async function inBatches(change: () => Promise<bigint>): Promise<void> {
  while ((await change()) >= BATCH);
}

/**
 * Makes a delivery due now, with the full retry schedule. If an attempt is in progress, the first one of the new round follows it. The
 * failure of the delivery becomes that of its last attempt, or null without one: `webhook_disabled`, which a delivery gets when it is given
 * up, is no failure of an attempt. Call it with the endpoint locked.
 */
export async function startNewRound(db: Database, id: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({
      round: sql`round + 1`,
      status: sql`case attempts when 0 then 'pending' else 'retrying' end`,
      failures: 0,
      failure: (eb) =>
        eb
          .selectFrom('delivery_attempts')
          .select('failure')
          .where('delivery_id', '=', id)
          .orderBy('number', 'desc')
          .limit(1),
      next_attempt_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute();
}

/** Deletes events older than this with their deliveries, except those with an open delivery. */
export async function deleteOldEvents(db: Database, olderThanDays: number): Promise<void> {
  await inBatches(async () => {
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
          .limit(BATCH),
      )
      .executeTakeFirst();
    return result.numDeletedRows;
  });
}

/** Due, and unclaimed or with an expired claim. */
const isDue = isRowDue('next_attempt_at', 'claimed_until');

function deliveries(db: Database) {
  return db
    .selectFrom('webhook_deliveries')
    .innerJoin('webhook_events', 'webhook_events.id', 'event_id')
    .selectAll('webhook_deliveries')
    .select('webhook_events.type as event_type');
}
