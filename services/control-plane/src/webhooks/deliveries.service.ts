import type { SealingKeys } from '@framelane/contracts/sealing';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import type { DueWork } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds } from '../db/due-rows.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import {
  type ClaimedDelivery,
  claimDueDeliveries,
  deleteOldEvents,
  findBacklog,
  findUnsettledEndpoints,
  giveUpDeliveries,
  insertAttempt,
  isAnyDue,
  lockClaimed,
  releaseClaim,
  updateDelivery,
} from './deliveries.store.ts';
import { afterAttempt, type Health, healthAfter, type NextStep } from './delivery-policy.ts';
import type { Attempt, DeliverySender } from './delivery-sender.ts';
import { disableEndpoint, lockEndpoint, updateEndpoint } from './endpoints.store.ts';

/** Requests under way to one endpoint at once, from all control planes together. */
const ATTEMPTS_PER_ENDPOINT = 10;

/** What a claim lasts beyond the time limit of its attempt. */
const CLAIM_MARGIN_SECONDS = 15;

/** Endpoints, and events, handled in one statement by `giveUpUnwanted` and `prune`. */
const BATCH = 1000;

/** How long events are kept, to be looked at and sent again. */
const RETENTION_DAYS = 30;

/** Claims deliveries that are due, attempts them and records the outcome (ADR 21). */
export class WebhookDeliveriesService implements DueWork<ClaimedDelivery> {
  readonly name = 'webhook-deliveries';
  readonly pollMs = 250;
  // Attempts do little but wait for endpoints.
  readonly concurrency = 200;
  readonly #db: Database;
  readonly #sender: DeliverySender;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #sealingKeys: SealingKeys;
  readonly #schedule: readonly number[];
  readonly #leaseSeconds: number;
  /** The last outcome of each endpoint that is being recorded. */
  readonly #recording = new Map<string, Promise<void>>();

  constructor(deps: {
    db: Database;
    sender: DeliverySender;
    logger: Logger;
    metrics: Metrics;
    sealingKeys: SealingKeys;
    settings: { retryScheduleSeconds: readonly number[]; timeoutSeconds: number };
  }) {
    this.#db = deps.db;
    this.#sender = deps.sender;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#sealingKeys = deps.sealingKeys;
    this.#schedule = deps.settings.retryScheduleSeconds;
    this.#leaseSeconds = deps.settings.timeoutSeconds + CLAIM_MARGIN_SECONDS;
  }

  /** Claims up to `limit` deliveries that are due. Each has to be attempted at once: its claim expires. */
  async claim(limit: number): Promise<ClaimedDelivery[]> {
    if (!(await isAnyDue(this.#db))) return [];
    return claimDueDeliveries(this.#db, {
      leaseSeconds: this.#leaseSeconds,
      limit,
      perEndpoint: ATTEMPTS_PER_ENDPOINT,
    });
  }

  /**
   * Attempts a claimed delivery. Never rejects: a delivery that cannot be signed, or whose outcome cannot be recorded, is
   * attempted again when its claim has expired.
   */
  async perform(delivery: ClaimedDelivery): Promise<void> {
    try {
      const { url, event_id: id, payload: body } = delivery;
      const secrets = await this.#secretsOf(delivery);
      const attempt = await this.#sender.send({ url, id, body, secrets });
      if (attempt === null) await releaseClaim(this.#db, delivery);
      else await this.#inTurn(delivery.endpoint_id, () => this.#record(delivery, attempt));
    } catch (error) {
      this.#logger.error('webhook.attempt_failed', { deliveryId: delivery.id, error });
    }
  }

  /** Breaks off the attempts under way; they are made again after the next start, or by another control plane. */
  interrupt(): void {
    this.#sender.interrupt();
  }

  /** Gives up the deliveries that are due at disabled endpoints. Safe on several instances. */
  async giveUpUnwanted(): Promise<void> {
    const unsettled = await findUnsettledEndpoints(this.#db, BATCH);
    await forEachSettled(unsettled, (endpointId) => giveUpDeliveries(this.#db, endpointId));
  }

  /** The deliveries that are still to be attempted: those due by now, and how many are due later. */
  backlog(): Promise<{ due: Backlog; scheduled: number }> {
    return findBacklog(this.#db);
  }

  /** Removes events after their time, with their deliveries. */
  async prune(): Promise<void> {
    let removed: number;
    do removed = await deleteOldEvents(this.#db, RETENTION_DAYS, BATCH);
    while (removed === BATCH);
  }

  /** Records outcomes of an endpoint one after the other: each locks its row, and together they would hold connections. */
  async #inTurn(endpointId: string, record: () => Promise<void>): Promise<void> {
    const turn = (this.#recording.get(endpointId) ?? Promise.resolve()).then(record, record);
    this.#recording.set(endpointId, turn);
    try {
      await turn;
    } finally {
      if (this.#recording.get(endpointId) === turn) this.#recording.delete(endpointId);
    }
  }

  /** Records how an attempt went, with what follows from it. An outcome of an expired claim changes nothing. */
  async #record(delivery: ClaimedDelivery, attempt: Attempt): Promise<void> {
    const at = delivery.claimed_at;
    const recorded = await this.#db.transaction().execute(async (trx) => {
      const endpoint = await lockEndpoint(trx, delivery.endpoint_id);
      const current = await lockClaimed(trx, delivery);
      if (endpoint === undefined || current === undefined) return undefined;
      const health = healthAfter(healthOf(endpoint), { ...attempt, at });
      // What the former address of an endpoint says does not concern the new one.
      const concerned = endpoint.url === delivery.url;
      const disable = endpoint.enabled && concerned ? health.disable : null;
      const next = this.#nextStep(delivery, attempt, endpoint.enabled && disable === null);
      const number = current.attempts + 1;
      const isLatestRound = current.round === delivery.round;
      await updateDelivery(trx, delivery.id, {
        ...(isLatestRound ? scheduleOf(delivery, attempt, next) : renewed(current, attempt)),
        claimed_until: null,
        attempts: number,
        last_attempt_at: at,
        response_status: attempt.responseStatus,
      });
      await insertAttempt(trx, {
        delivery_id: delivery.id,
        number,
        at,
        duration_ms: attempt.durationMs,
        response_status: attempt.responseStatus,
        failure: attempt.failure,
      });
      if (concerned) {
        await updateEndpoint(trx, endpoint.id, {
          consecutive_failures: health.consecutiveFailures,
          failing_since: health.failingSince,
          last_attempt_at: at,
        });
      }
      if (disable !== null) await disableEndpoint(trx, endpoint.id, disable);
      return { number, next, disable, isDueAgain: !isLatestRound && current.next_attempt_at !== null };
    });
    if (recorded === undefined) return;
    const { number, next, disable, isDueAgain } = recorded;
    this.#log(delivery, number, attempt, next);
    this.#metrics.webhookAttempted(typeof next === 'object' || isDueAgain ? 'retrying' : next);
    if (disable !== null) {
      this.#metrics.webhookDisabled(disable);
      this.#logger.warn('webhook.disabled', { webhookId: delivery.endpoint_id, reason: disable });
      await giveUpDeliveries(this.#db, delivery.endpoint_id);
    }
  }

  #nextStep(
    delivery: ClaimedDelivery,
    { failure, retryAfterSeconds }: Attempt,
    stillWanted: boolean,
  ): NextStep {
    // A test is for somebody who waits for its outcome now.
    const mayRetry = stillWanted && delivery.event_type !== 'webhook.test';
    const failures = delivery.failures + 1;
    return afterAttempt({ failure, failures, retryAfterSeconds }, mayRetry ? this.#schedule : []);
  }

  async #secretsOf({ secret, previous_secret }: ClaimedDelivery): Promise<Buffer[]> {
    const sealed = [secret, ...(previous_secret === null ? [] : [previous_secret])];
    return Promise.all(sealed.map((each) => this.#sealingKeys.open(each)));
  }

  #log(delivery: ClaimedDelivery, number: number, attempt: Attempt, next: NextStep): void {
    const facts = {
      webhookId: delivery.endpoint_id,
      deliveryId: delivery.id,
      eventId: delivery.event_id,
      eventType: delivery.event_type,
      // Paths and queries of receivers can be secrets.
      host: new URL(delivery.url).host,
      attempt: number,
      responseStatus: attempt.responseStatus,
      durationMs: attempt.durationMs,
    };
    if (attempt.failure === null) {
      this.#logger.info('webhook.delivered', facts);
      return;
    }
    const retryInSeconds = typeof next === 'object' ? Math.round(next.retryInSeconds) : null;
    this.#logger.warn('webhook.delivery_failed', { ...facts, failure: attempt.failure, retryInSeconds });
  }
}

function healthOf(endpoint: WebhookEndpointRow): Health {
  return { consecutiveFailures: endpoint.consecutive_failures, failingSince: endpoint.failing_since };
}

/** What follows from an attempt of the present round. */
function scheduleOf({ failures }: WebhookDeliveryRow, { failure }: Attempt, next: NextStep) {
  const retry = typeof next === 'object';
  return {
    status: retry ? 'retrying' : next,
    next_attempt_at: retry ? inSeconds(next.retryInSeconds) : null,
    failures: failures + (failure === null ? 0 : 1),
    failure,
  } as const;
}

/** A redelivery was requested during the attempt: it stays due, unless it was given up since. */
function renewed({ next_attempt_at }: WebhookDeliveryRow, { failure }: Attempt) {
  return next_attempt_at === null ? {} : ({ status: 'retrying', failure } as const);
}
