import type { SealingKeys } from '@framelane/contracts/sealing';
import type { Logger } from '@framelane/service-kit/logger';
import { serverOf, withSpan } from '@framelane/service-kit/tracing';
import type { DueWork } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { Metrics } from '../metrics/metrics.ts';
import {
  type ClaimedDelivery,
  claimDueDeliveries,
  deleteOldEvents,
  findBacklog,
  giveUpDeliveries,
  isAnyDue,
  lockClaimed,
  recordDeliveryAttempt,
  releaseClaim,
  type ScheduleChange,
} from './deliveries.store.ts';
import { afterDeliveryAttempt, healthAfter, type NextStep } from './delivery-policy.ts';
import type { DeliveryAttemptResult, DeliverySender } from './delivery-sender.ts';
import { disableEndpoint, lockEndpoint, recordHealth } from './endpoints.store.ts';

/** Concurrent requests to one endpoint, from all control planes together. */
const ATTEMPTS_PER_ENDPOINT = 10;

/** How much longer a claim lasts than the timeout of its attempt. */
const CLAIM_MARGIN_SECONDS = 15;

/** How long owners can list and redeliver events. */
const RETENTION_DAYS = 30;

type Deps = {
  db: Database;
  sender: DeliverySender;
  logger: Logger;
  metrics: Metrics;
  sealingKeys: SealingKeys;
  settings: { retryScheduleSeconds: readonly number[]; timeoutSeconds: number };
};

/** Claims due deliveries, attempts them and records the outcomes (ADR 21). */
export class WebhookDeliveriesService implements DueWork<ClaimedDelivery> {
  readonly name = 'webhook-deliveries';
  // Attempts do little but wait for endpoints.
  readonly concurrency = 200;
  readonly #deps: Deps;
  readonly #leaseSeconds: number;
  /** The last task of each endpoint in `#inTurn`. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#leaseSeconds = deps.settings.timeoutSeconds + CLAIM_MARGIN_SECONDS;
  }

  /** Claims up to `limit` due deliveries. Attempt each at once: its claim expires. */
  async claim(limit: number): Promise<ClaimedDelivery[]> {
    if (!(await isAnyDue(this.#deps.db))) return [];
    return claimDueDeliveries(this.#deps.db, {
      leaseSeconds: this.#leaseSeconds,
      limit,
      perEndpoint: ATTEMPTS_PER_ENDPOINT,
    });
  }

  traceparent({ traceparent }: ClaimedDelivery): string | null {
    return traceparent;
  }

  /**
   * Attempts a claimed delivery, or gives it up when its endpoint is disabled. Never rejects: a delivery that cannot be
   * signed or recorded is attempted again when its claim has expired.
   */
  async perform(delivery: ClaimedDelivery): Promise<void> {
    try {
      if (!delivery.enabled) {
        await this.#inTurn(delivery.endpoint_id, () => this.#giveUp(delivery));
        return;
      }
      const { url, event_id: id, payload: body } = delivery;
      const secrets = await this.#secretsOf(delivery);
      const result = await inClientSpan(delivery, () => this.#deps.sender.send({ url, id, body, secrets }));
      if (result === null) await releaseClaim(this.#deps.db, delivery);
      else await this.#inTurn(delivery.endpoint_id, () => this.#record(delivery, result));
    } catch (error) {
      this.#deps.logger.error('webhook.delivery_attempt_failed', { deliveryId: delivery.id, error });
    }
  }

  /** Aborts the current attempts. The next start or another control plane makes them again. */
  interrupt(): void {
    this.#deps.sender.interrupt();
  }

  /** Open deliveries: those that are due, and the number of those scheduled for later. */
  backlog(): Promise<{ due: Backlog; scheduled: number }> {
    return findBacklog(this.#deps.db);
  }

  /** Deletes events after their retention, with their deliveries. */
  prune(): Promise<void> {
    return deleteOldEvents(this.#deps.db, RETENTION_DAYS);
  }

  /** Runs the tasks of an endpoint one after the other: each locks its row, and waiting ones would occupy connections. */
  async #inTurn(endpointId: string, task: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(endpointId) ?? Promise.resolve()).then(task, task);
    this.#turns.set(endpointId, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(endpointId) === turn) this.#turns.delete(endpointId);
    }
  }

  /** Gives up the delivery with all others of its endpoint, unless the endpoint is enabled again. */
  async #giveUp(delivery: ClaimedDelivery): Promise<void> {
    await giveUpDeliveries(this.#deps.db, delivery.endpoint_id);
    await releaseClaim(this.#deps.db, delivery);
  }

  /** Records an attempt and what follows from it. The outcome of an expired claim changes nothing. */
  async #record(delivery: ClaimedDelivery, result: DeliveryAttemptResult): Promise<void> {
    const at = delivery.claimed_at;
    const recorded = await this.#deps.db.transaction().execute(async (trx) => {
      const endpoint = await lockEndpoint(trx, delivery.endpoint_id);
      const current = await lockClaimed(trx, delivery);
      if (endpoint === undefined || current === undefined) return undefined;
      const before = {
        consecutiveFailures: endpoint.consecutive_failures,
        failingSince: endpoint.failing_since,
      };
      const { disable, ...health } = healthAfter(before, { failure: result.failure, at });
      // A result from the former URL says nothing about the new one.
      const sameUrl = endpoint.url === delivery.url;
      const disableReason = endpoint.enabled && sameUrl ? disable : null;
      const next = this.#nextStep(delivery, result, endpoint.enabled && disableReason === null);
      const number = current.attempts + 1;
      const redelivering = current.round !== delivery.round;
      await recordDeliveryAttempt(
        trx,
        delivery.id,
        { number, at, ...result },
        redelivering ? undefined : scheduleChange(delivery.failures, result, next),
      );
      if (sameUrl) await recordHealth(trx, endpoint.id, { ...health, attemptedAt: at });
      if (disableReason !== null) await disableEndpoint(trx, endpoint.id, disableReason);
      return { number, next, disableReason, isDueAgain: redelivering && current.next_attempt_at !== null };
    });
    if (recorded === undefined) return;
    const { number, next, disableReason, isDueAgain } = recorded;
    this.#log(delivery, number, result, next);
    this.#deps.metrics.deliveryAttempted(typeof next === 'object' || isDueAgain ? 'retrying' : next);
    if (disableReason !== null) {
      this.#deps.metrics.webhookDisabled(disableReason);
      this.#deps.logger.warn('webhook.disabled', { webhookId: delivery.endpoint_id, reason: disableReason });
      await giveUpDeliveries(this.#deps.db, delivery.endpoint_id);
    }
  }

  #nextStep(
    delivery: ClaimedDelivery,
    { failure, retryAfterSeconds }: DeliveryAttemptResult,
    endpointEnabled: boolean,
  ): NextStep {
    // Somebody waits for the outcome of a test event.
    const mayRetry = endpointEnabled && delivery.event_type !== 'webhook.test';
    const failures = delivery.failures + 1;
    return afterDeliveryAttempt(
      { failure, failures, retryAfterSeconds },
      mayRetry ? this.#deps.settings.retryScheduleSeconds : [],
    );
  }

  async #secretsOf({ secret, previous_secret }: ClaimedDelivery): Promise<Buffer[]> {
    const sealed = [secret, ...(previous_secret === null ? [] : [previous_secret])];
    return Promise.all(sealed.map((each) => this.#deps.sealingKeys.open(each)));
  }

  #log(delivery: ClaimedDelivery, number: number, result: DeliveryAttemptResult, next: NextStep): void {
    const fields = {
      webhookId: delivery.endpoint_id,
      deliveryId: delivery.id,
      eventId: delivery.event_id,
      eventType: delivery.event_type,
      // The path and query of an endpoint can be secrets.
      host: new URL(delivery.url).host,
      attempt: number,
      responseStatus: result.responseStatus,
      durationMs: result.durationMs,
    };
    if (result.failure === null) {
      this.#deps.logger.info('webhook.delivered', fields);
      return;
    }
    const retryInSeconds = typeof next === 'object' ? Math.round(next.retryInSeconds) : null;
    this.#deps.logger.warn('webhook.delivery_failed', { ...fields, failure: result.failure, retryInSeconds });
  }
}

/** The span of an attempt. It has no `url.full`: the path and the query of an endpoint can be secrets. */
function inClientSpan(
  delivery: ClaimedDelivery,
  send: () => Promise<DeliveryAttemptResult | null>,
): Promise<DeliveryAttemptResult | null> {
  const attributes = {
    'http.request.method': 'POST',
    'http.request.resend_count': delivery.attempts || undefined,
    ...serverOf(new URL(delivery.url)),
    'framelane.event.id': delivery.event_id,
    'framelane.event.type': delivery.event_type,
    'framelane.delivery.id': delivery.id,
  };
  return withSpan('POST', { kind: 'client', attributes }, async (span) => {
    const result = await send();
    span?.set({ 'http.response.status_code': result?.responseStatus ?? undefined });
    if (result?.failure) span?.fail(result.failure);
    return result;
  });
}

/** How an attempt of the current round changes the schedule; `failures` counts the failed attempts before it. */
function scheduleChange(
  failures: number,
  { failure }: DeliveryAttemptResult,
  next: NextStep,
): ScheduleChange {
  const counted = { failures: failures + (failure === null ? 0 : 1) };
  return typeof next === 'object'
    ? { ...counted, status: 'retrying', retryInSeconds: next.retryInSeconds }
    : { ...counted, status: next };
}
