import type { SealingKeys } from '@framelane/contracts/sealing';
import type { Logger } from '@framelane/service-kit/logger';
import type { Backlog } from '../db/backlog.ts';
import type { Database } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import type { WebhookEndpointRow } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import {
  countAttempt,
  type DueDelivery,
  deleteOldEvents,
  findBacklog,
  findDueDeliveries,
  findOverdueEndpoints,
  findUnsettledEndpoints,
  giveUpDeliveries,
  inSeconds,
  insertAttempt,
  secondsToNextAttempt,
} from './deliveries.store.ts';
import {
  disableEndpoint,
  type LeasedEndpoint,
  leaseEndpoint,
  lockEndpoint,
  releaseEndpoint,
  updateEndpoint,
} from './endpoints.store.ts';
import { afterAttempt, type Health, healthAfter, type NextStep } from './retry-policy.ts';
import type { Attempt, WebhookSender } from './webhook-sender.ts';

/** Requests under way to one endpoint at once. */
const ATTEMPTS_AT_ONCE = 10;

/** What a lease lasts beyond the time limit of the attempts made under it. */
const LEASE_MARGIN_SECONDS = 15;

/** A delivery due for so long was forgotten by a process that died. */
const OVERDUE_SECONDS = 15;

/** Endpoints, and events, looked at in one go by `reconcile` and `prune`. */
const BATCH = 1000;

/** How long events are kept, to be looked at and sent again. */
const RETENTION_DAYS = 30;

/**
 * Sends what is due, one endpoint at a time. The rows say what is due and when; a job is only the call to look. One run
 * at a time has the lease on an endpoint, so a slow receiver occupies one worker, and no other endpoint waits for it
 * as long as another worker is free (ADR 9).
 */
export class WebhookDeliveriesService {
  readonly #db: Database;
  readonly #sender: WebhookSender;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #sealingKeys: SealingKeys;
  readonly #schedule: readonly number[];
  readonly #leaseSeconds: number;

  constructor(deps: {
    db: Database;
    sender: WebhookSender;
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
    this.#leaseSeconds = deps.settings.timeoutSeconds + LEASE_MARGIN_SECONDS;
  }

  /**
   * Makes the attempts that are due at an endpoint. Does nothing while another run has the lease: that one looks again
   * before it ends.
   */
  async deliver(endpointId: string): Promise<void> {
    const endpoint = await leaseEndpoint(this.#db, endpointId, this.#leaseSeconds);
    if (endpoint === undefined) return;
    const secrets = await this.#signingSecrets(endpoint);
    const due = await findDueDeliveries(this.#db, endpointId, ATTEMPTS_AT_ONCE);
    // Outcomes are noted one after the other: each locks the endpoint, and together they would only hold connections.
    let noted = Promise.resolve();
    const attempts = due.map(async (delivery) => {
      const message = { url: endpoint.url, id: delivery.event_id, body: delivery.payload, secrets };
      const attempt = await this.#sender.send(message);
      if (attempt === null) return;
      noted = noted.then(() => this.#note(endpoint, delivery, attempt));
      await noted;
    });
    // Rejects when an outcome could not be noted; the next attempt then has to wait until the lease runs out.
    await Promise.all(attempts);
    await this.#release(endpoint);
  }

  /** Breaks off the attempts under way; they are made again after the next start, or by another control plane. */
  interrupt(): void {
    this.#sender.interrupt();
  }

  /** Calls to look where a call got lost with the process that had it, or gives up what it did not. Safe on several instances. */
  async reconcile(): Promise<void> {
    for (const endpointId of await findOverdueEndpoints(this.#db, OVERDUE_SECONDS, BATCH)) {
      await addJob(this.#db, 'deliver-webhooks', { endpointId }, { key: `webhooks:${endpointId}` });
    }
    for (const endpointId of await findUnsettledEndpoints(this.#db, BATCH)) {
      await giveUpDeliveries(this.#db, endpointId);
    }
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

  /** Notes how an attempt went and has what follows from it done. */
  async #note(endpoint: LeasedEndpoint, delivery: DueDelivery, attempt: Attempt): Promise<void> {
    const noted = await this.#db.transaction().execute(async (trx) => {
      const current = await lockEndpoint(trx, endpoint.id);
      // Deleted meanwhile, and its deliveries with it.
      if (current === undefined) return undefined;
      const health = healthAfter(healthOf(current), attempt);
      // What the former address of an endpoint says does not concern the new one.
      const disable = current.enabled && current.url === endpoint.url ? health.disable : null;
      const next = this.#nextStep(delivery, attempt, current.enabled && disable === null);
      if (!(await noteAttempt(trx, delivery, attempt, next))) return undefined;
      if (current.url === endpoint.url) {
        await updateEndpoint(trx, endpoint.id, {
          consecutive_failures: health.consecutiveFailures,
          failing_since: health.failingSince,
          last_attempt_at: attempt.at,
        });
      }
      if (disable !== null) await disableEndpoint(trx, endpoint.id, disable);
      if (typeof next === 'object') {
        const { retryInSeconds: delaySeconds } = next;
        await addJob(trx, 'deliver-webhooks', { endpointId: endpoint.id }, { delaySeconds });
      }
      return { next, disable };
    });
    if (noted === undefined) return;
    this.#log(endpoint, delivery, attempt, noted.next);
    this.#metrics.webhookAttempted(typeof noted.next === 'object' ? 'retrying' : noted.next);
    if (noted.disable !== null) {
      this.#metrics.webhookDisabled(noted.disable);
      this.#logger.warn('webhook.disabled', { webhookId: endpoint.id, reason: noted.disable });
      await giveUpDeliveries(this.#db, endpoint.id);
    }
  }

  #nextStep(delivery: DueDelivery, { failure, retryAfterSeconds }: Attempt, stillWanted: boolean): NextStep {
    // A test is for somebody who waits for its outcome now.
    const mayRetry = stillWanted && delivery.event_type !== 'webhook.test';
    const failures = delivery.failures + 1;
    return afterAttempt({ failure, failures, retryAfterSeconds }, mayRetry ? this.#schedule : []);
  }

  /** Ends the lease, and has whatever is due by now looked at again. */
  async #release(endpoint: LeasedEndpoint): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      if (!(await releaseEndpoint(trx, endpoint))) return;
      // A call that came while the lease was held found it so and is gone. Later attempts have calls of their own.
      const seconds = await secondsToNextAttempt(trx, endpoint.id);
      if (seconds === null || seconds > 1) return;
      const delaySeconds = Math.max(seconds, 0);
      await addJob(trx, 'deliver-webhooks', { endpointId: endpoint.id }, { delaySeconds });
    });
  }

  async #signingSecrets(endpoint: WebhookEndpointRow): Promise<Buffer[]> {
    const { secret, previous_secret, previous_secret_expires_at } = endpoint;
    const replaced = previous_secret_expires_at !== null && previous_secret_expires_at > new Date();
    const sealed = [secret, ...(replaced && previous_secret !== null ? [previous_secret] : [])];
    return Promise.all(sealed.map((each) => this.#sealingKeys.open(each)));
  }

  #log(endpoint: LeasedEndpoint, delivery: DueDelivery, attempt: Attempt, next: NextStep): void {
    const facts = {
      webhookId: endpoint.id,
      deliveryId: delivery.id,
      eventId: delivery.event_id,
      eventType: delivery.event_type,
      // Paths and queries of receivers can be secrets.
      host: new URL(endpoint.url).host,
      attempt: delivery.attempts + 1,
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

/** Resolves with whether the attempt was the one the delivery waited for. */
async function noteAttempt(
  trx: Database,
  delivery: DueDelivery,
  attempt: Attempt,
  next: NextStep,
): Promise<boolean> {
  const { at, failure, responseStatus } = attempt;
  const number = delivery.attempts + 1;
  const counted = await countAttempt(trx, delivery.id, number, {
    status: typeof next === 'object' ? 'retrying' : next,
    next_attempt_at: typeof next === 'object' ? inSeconds(next.retryInSeconds) : null,
    last_attempt_at: at,
    response_status: responseStatus,
    failure,
    failures: delivery.failures + (failure === null ? 0 : 1),
  });
  if (!counted) return false;
  await insertAttempt(trx, {
    delivery_id: delivery.id,
    number,
    at,
    duration_ms: attempt.durationMs,
    response_status: responseStatus,
    failure,
  });
  return true;
}
