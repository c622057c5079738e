import type { Logger } from '@framelane/service-kit/logger';
import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { AttemptsService } from '../attempts/attempts.service.ts';
import type { TranscodeCommands } from '../attempts/commands.service.ts';
import type { Maintenance } from '../background/maintenance.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { ResealingService } from '../sealed-values/resealing.service.ts';
import type { ObjectPurges } from '../videos/object-purges.service.ts';
import type { WebhookDeliveriesService } from '../webhooks/deliveries.service.ts';
import { inTime } from './in-time.ts';
import { QueueGauges } from './queue-gauges.ts';

type Sources = {
  pool: pg.Pool;
  attempts: AttemptsService;
  background: readonly (TranscodeCommands | ObjectPurges | Maintenance)[];
  webhookDeliveries: WebhookDeliveriesService;
  resealing: ResealingService;
  logger: Logger;
};

/**
 * What waits, as the database knows it: the same on every control plane. While the database is away, so are these
 * metrics; all others stay.
 */
export class DatabaseMetrics {
  readonly #sources: Sources;
  readonly #up: Gauge;
  readonly #videos: QueueGauges<'state'>;
  readonly #background: QueueGauges<'work'>;
  readonly #deliveries: QueueGauges<'state'>;
  readonly #toReseal: Gauge<'kind'>;
  #looking: Promise<void> | undefined;

  constructor(registry: Registry, sources: Sources) {
    this.#sources = sources;
    this.#up = new Gauge({
      name: 'framelane_database_up',
      help: 'Whether the database answered while these metrics were fetched',
      registers: [registry],
    });
    this.#videos = new QueueGauges(registry, {
      name: 'framelane_processing_videos',
      help: 'Videos waiting for an engine, or worked on by one',
      labelNames: ['state'],
    });
    this.#background = new QueueGauges(registry, {
      name: 'framelane_background_work',
      help: 'Background work that is due and not done',
      labelNames: ['work'],
    });
    this.#deliveries = new QueueGauges(registry, {
      name: 'framelane_webhook_deliveries_open',
      help: 'Webhook deliveries whose next attempt is due, or scheduled for later',
      labelNames: ['state'],
    });
    this.#toReseal = new Gauge({
      name: 'framelane_secrets_to_reseal',
      help: 'Content keys and webhook secrets that CONTENT_KEY_SECRET did not seal',
      labelNames: ['kind'],
      registers: [registry],
    });
    measurePool(sources.pool, registry);
  }

  /** Looks at the database. Never rejects, and never takes long. */
  async refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    try {
      await inTime(this.#looking);
    } catch (error) {
      this.#sources.logger.warn('metrics.database_not_read', { error });
      this.#forget();
    }
  }

  async #look(): Promise<void> {
    const { attempts, background, webhookDeliveries, resealing } = this.#sources;
    // One after the other: they are quick, and connections are for those who wait for answers.
    const videos = await attempts.backlog();
    const deliveries = await webhookDeliveries.backlog();
    const due: [string, Backlog][] = [];
    for (const work of background) due.push([work.name, await work.backlog()]);
    const toReseal = await resealing.pending();
    this.#forget();
    this.#up.set(1);
    this.#videos.set({ state: 'waiting' }, videos.waiting);
    this.#videos.set({ state: 'running' }, videos.running);
    this.#deliveries.set({ state: 'due' }, deliveries.due);
    this.#deliveries.set({ state: 'scheduled' }, { count: deliveries.scheduled });
    this.#toReseal.set({ kind: 'content_key' }, toReseal.contentKeys);
    this.#toReseal.set({ kind: 'webhook_secret' }, toReseal.webhookSecrets);
    for (const [work, backlog] of due) this.#background.set({ work }, backlog);
  }

  /** What was true at the last look need not be any more. */
  #forget(): void {
    this.#up.set(0);
    this.#videos.reset();
    this.#deliveries.reset();
    this.#background.reset();
    this.#toReseal.reset();
  }
}

function measurePool(pool: pg.Pool, registry: Registry): void {
  new Gauge({
    name: 'framelane_database_connections',
    help: 'Connections of this control plane to the database',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'framelane_database_waiting_queries',
    help: 'Queries and transactions that wait for a connection',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount);
    },
  });
}
