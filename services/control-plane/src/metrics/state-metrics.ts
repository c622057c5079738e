import { deadLetterQueue, QUEUES, type QueueName } from '@framelane/contracts/topology';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import pTimeout from 'p-timeout';
import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { Backlog } from '../db/due-rows.ts';

/** Time limit for reading the database or the broker; Prometheus gives up after ten seconds. */
const TIMEOUT_MS = 3000;

type Sources = {
  pool: pg.Pool;
  bus: MessageBus;
  attempts: { backlog(): Promise<{ waiting: Backlog; running: Backlog }> };
  tasks: { backlog(command: 'task' | 'background'): Promise<{ waiting: Backlog; running: Backlog }> };
  imports: { backlog(): Promise<{ waiting: Backlog; running: Backlog }> };
  background: readonly { name: string; backlog(): Promise<Backlog> }[];
  webhookDeliveries: { backlog(): Promise<{ due: Backlog; scheduled: number }> };
  resealing: {
    pending(): Promise<{ contentKeys: number; webhookSecrets: number; importRequests: number }>;
  };
  lastBackup: () => Promise<{ ageSeconds: number; missing: number } | undefined>;
  logger: Logger;
};

/**
 * Gauges of the state that all control planes share, read from the database and the broker for each scrape. While one of
 * the two is unavailable, its gauges have no values; all other metrics do.
 */
export class StateMetrics {
  readonly #sources: Sources;
  readonly #databaseUp: Gauge;
  readonly #videos: BacklogGauges<'state'>;
  readonly #tasks: BacklogGauges<'state'>;
  readonly #optionalTasks: BacklogGauges<'state'>;
  readonly #imports: BacklogGauges<'state'>;
  readonly #background: BacklogGauges<'work'>;
  readonly #deliveries: BacklogGauges<'state'>;
  readonly #toReseal: Gauge<'kind'>;
  readonly #backupAge: Gauge;
  readonly #backupMissing: Gauge;
  readonly #deadLetters: Gauge<'queue'>;
  #reading: Promise<void> | undefined;

  constructor(registry: Registry, sources: Sources) {
    this.#sources = sources;
    const registers = [registry];
    this.#databaseUp = new Gauge({
      name: 'framelane_database_up',
      help: 'Whether the gauges of the database could be read for this scrape',
      registers,
    });
    this.#videos = new BacklogGauges(registry, {
      name: 'framelane_videos_processing',
      help: 'Videos that wait for an engine, or are being transcoded',
      labelNames: ['state'],
    });
    this.#tasks = new BacklogGauges(registry, {
      name: 'framelane_tasks_open',
      help: 'Tasks of long videos that wait for an engine, or that engines work on',
      labelNames: ['state'],
    });
    this.#optionalTasks = new BacklogGauges(registry, {
      name: 'framelane_optional_tasks_open',
      help: 'Tasks of plans of ready videos that wait for an engine, or that engines work on',
      labelNames: ['state'],
    });
    this.#imports = new BacklogGauges(registry, {
      name: 'framelane_imports_open',
      help: 'Imports that are due and wait for an engine, or are being fetched',
      age: 'how long the oldest has been due',
      labelNames: ['state'],
    });
    this.#background = new BacklogGauges(registry, {
      name: 'framelane_background_work',
      help: 'Background work that is due and not done',
      labelNames: ['work'],
    });
    this.#deliveries = new BacklogGauges(registry, {
      name: 'framelane_webhook_deliveries_open',
      help: 'Webhook deliveries that are due, or scheduled for later',
      labelNames: ['state'],
    });
    this.#toReseal = new Gauge({
      name: 'framelane_secrets_to_reseal',
      help: 'Content keys, webhook secrets and import requests that are not sealed with CONTENT_KEY_SECRET',
      labelNames: ['kind'],
      registers,
    });
    this.#backupAge = new Gauge({
      name: 'framelane_backup_age_seconds',
      help: 'Age of the rows in the last complete backup',
      registers,
    });
    this.#backupMissing = new Gauge({
      name: 'framelane_backup_missing_objects',
      help: 'Objects that the last complete backup lacks, because they were not stored as the database says',
      registers,
    });
    this.#deadLetters = new Gauge({
      name: 'framelane_dead_letters',
      help: 'Dead-lettered messages, by dead-letter queue',
      labelNames: ['queue'],
      registers,
    });
    registerPoolGauges(sources.pool, registry);
  }

  /** Reads the database and the broker. Never rejects, and ends within the timeout. */
  async refresh(): Promise<void> {
    await Promise.all([this.#refreshDatabase(), this.#refreshBroker()]);
  }

  async #refreshDatabase(): Promise<void> {
    // Concurrent scrapes share one reading.
    this.#reading ??= this.#readDatabase().finally(() => {
      this.#reading = undefined;
    });
    try {
      await pTimeout(this.#reading, { milliseconds: TIMEOUT_MS });
    } catch (error) {
      this.#sources.logger.warn('metrics.database_not_read', { error });
      this.#resetDatabase();
    }
  }

  async #readDatabase(): Promise<void> {
    const { attempts, tasks, imports, background, webhookDeliveries, resealing, lastBackup } = this.#sources;
    // One query at a time, so that scrapes occupy one connection.
    const videos = await attempts.backlog();
    const openTasks = await tasks.backlog('task');
    const optionalTasks = await tasks.backlog('background');
    const openImports = await imports.backlog();
    const deliveries = await webhookDeliveries.backlog();
    const due: [string, Backlog][] = [];
    for (const work of background) due.push([work.name, await work.backlog()]);
    const toReseal = await resealing.pending();
    const backup = await lastBackup();
    this.#resetDatabase();
    this.#databaseUp.set(1);
    this.#videos.set({ state: 'waiting' }, videos.waiting);
    this.#videos.set({ state: 'running' }, videos.running);
    this.#tasks.set({ state: 'waiting' }, openTasks.waiting);
    this.#tasks.set({ state: 'running' }, openTasks.running);
    this.#optionalTasks.set({ state: 'waiting' }, optionalTasks.waiting);
    this.#optionalTasks.set({ state: 'running' }, optionalTasks.running);
    this.#imports.set({ state: 'waiting' }, openImports.waiting);
    this.#imports.set({ state: 'running' }, openImports.running);
    this.#deliveries.set({ state: 'due' }, deliveries.due);
    this.#deliveries.set({ state: 'scheduled' }, { count: deliveries.scheduled });
    this.#toReseal.set({ kind: 'content_key' }, toReseal.contentKeys);
    this.#toReseal.set({ kind: 'webhook_secret' }, toReseal.webhookSecrets);
    this.#toReseal.set({ kind: 'import_request' }, toReseal.importRequests);
    if (backup !== undefined) {
      this.#backupAge.set(backup.ageSeconds);
      this.#backupMissing.set(backup.missing);
    }
    for (const [work, backlog] of due) this.#background.set({ work }, backlog);
  }

  #resetDatabase(): void {
    this.#databaseUp.set(0);
    this.#videos.reset();
    this.#tasks.reset();
    this.#optionalTasks.reset();
    this.#imports.reset();
    this.#deliveries.reset();
    this.#background.reset();
    this.#toReseal.reset();
    // Without labels, a reset would be a zero.
    this.#backupAge.remove();
    this.#backupMissing.remove();
  }

  async #refreshBroker(): Promise<void> {
    const { bus, logger } = this.#sources;
    const queues = Object.keys(QUEUES) as QueueName[];
    try {
      const counts = await pTimeout(
        Promise.all(
          queues.map(async (name) => ({
            queue: deadLetterQueue(name),
            count: await bus.countDeadLetters(name),
          })),
        ),
        { milliseconds: TIMEOUT_MS },
      );
      // Only now, so that a concurrent scrape finds the previous values.
      for (const { queue, count } of counts) this.#deadLetters.set({ queue }, count);
    } catch (error) {
      logger.warn('metrics.dead_letters_not_read', { error });
      this.#deadLetters.reset();
    }
  }
}

/** The gauges `<name>` and `<name>_oldest_age_seconds` of one queue. */
class BacklogGauges<L extends string> {
  readonly #count: Gauge<L>;
  readonly #oldestAge: Gauge<L>;

  constructor(
    registry: Registry,
    queue: { name: string; help: string; age?: string; labelNames: readonly L[] },
  ) {
    const { name, help, age = 'how long the oldest has been in this state', labelNames } = queue;
    const registers = [registry];
    this.#count = new Gauge({ name, help, labelNames, registers });
    this.#oldestAge = new Gauge({
      name: `${name}_oldest_age_seconds`,
      help: `${help}: ${age}`,
      labelNames,
      registers,
    });
  }

  set(labels: Record<L, string>, { count, oldestSeconds }: Pick<Backlog, 'count'> & Partial<Backlog>): void {
    this.#count.set(labels, count);
    if (oldestSeconds !== undefined) this.#oldestAge.set(labels, oldestSeconds);
  }

  reset(): void {
    this.#count.reset();
    this.#oldestAge.reset();
  }
}

function registerPoolGauges(pool: pg.Pool, registry: Registry): void {
  new Gauge({
    name: 'framelane_database_connections',
    help: 'Database connections of this control plane',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'framelane_database_queries_waiting',
    help: 'Queries and transactions that wait for a connection',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount);
    },
  });
}
