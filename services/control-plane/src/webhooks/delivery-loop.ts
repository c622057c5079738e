import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@framelane/service-kit/logger';
import type { WebhookDeliveriesService } from './deliveries.service.ts';
import type { ClaimedDelivery } from './deliveries.store.ts';

/** How soon a delivery that has become due is found by a control plane with nothing else to do. */
const POLL_MS = 250;

/** Pause after a claim that failed, as when the database is away. */
const FAILED_CLAIM_MS = 1000;

/** Attempts under way in one control plane. They do little but wait for receivers. */
const CONCURRENCY = 200;

/** Attempts deliveries as they become due, many at once, until it is stopped. */
export class DeliveryLoop {
  readonly #deliveries: WebhookDeliveriesService;
  readonly #logger: Logger;
  readonly #underWay = new Set<Promise<void>>();
  /** Ends the pause before the next claim. */
  #wake = new AbortController();
  #stopping = false;
  #running: Promise<void> | undefined;

  constructor({ deliveries, logger }: { deliveries: WebhookDeliveriesService; logger: Logger }) {
    this.#deliveries = deliveries;
    this.#logger = logger;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Claims nothing more and interrupts the attempts under way, so that no slow receiver holds up a stop. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake.abort();
    this.#deliveries.interrupt();
    await this.#running;
    await Promise.all(this.#underWay);
  }

  async #run(): Promise<void> {
    let failing = false;
    while (!this.#stopping) {
      this.#wake = new AbortController();
      try {
        await this.#claim();
        failing = false;
      } catch (error) {
        // The first is enough for the log.
        this.#logger.log(failing ? 'debug' : 'warn', 'webhooks.not_claimed', { error });
        failing = true;
      }
      const pauseMs = failing ? FAILED_CLAIM_MS : POLL_MS;
      await delay(pauseMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #claim(): Promise<void> {
    const free = CONCURRENCY - this.#underWay.size;
    if (free <= 0) return;
    for (const delivery of await this.#deliveries.claim(free)) this.#begin(delivery);
  }

  #begin(delivery: ClaimedDelivery): void {
    const attempt = this.#deliveries.attempt(delivery).finally(() => {
      this.#underWay.delete(attempt);
      // There is room for the next.
      this.#wake.abort();
    });
    this.#underWay.add(attempt);
  }
}
