import { COMMAND_TYPES } from '@framelane/contracts/messages';
import { queueFor } from '@framelane/contracts/topology';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { components } from '@framelane/openapi/types';
import type { Logger } from '@framelane/service-kit/logger';
import { VERSION } from '@framelane/service-kit/version';
import pTimeout from 'p-timeout';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { EngineRecord } from '../engines/engine-record.ts';
import { countUploads, findDatabaseVersions } from './system.store.ts';

type Schemas = components['schemas'];
type System = Schemas['System'];
type Health = Schemas['SystemHealth'];

/** Time limit of each part. The parts are read at the same time. */
const LIMIT_MS = 3_000;

/** Requests within this time share one reading, and so do those that arrive before it has ended. */
const SHARED_MS = 2_000;

/** A check that takes longer is slow. */
const SLOW_MS = 1_000;

type Work = { waiting: Backlog; running: Backlog };

type Sources = {
  db: Database;
  bus: Pick<MessageBus, 'kind' | 'countDeadLetters'>;
  objects: Pick<ObjectStore, 'kind'>;
  checks: Readonly<Record<'database' | 'queue' | 'storage', () => Promise<void>>>;
  engines: { list(): Promise<EngineRecord[]> };
  attempts: { backlog(): Promise<Work> };
  imports: { backlog(): Promise<Work> };
  webhookDeliveries: { backlog(): Promise<{ due: Backlog; scheduled: number }> };
  lastBackup(): Promise<Schemas['SystemBackup'] | undefined>;
  logger: Logger;
};

/** Reads the state of the installation for administrators (ADR 49). */
export class SystemService {
  readonly #sources: Sources;
  #latest: { startedAt: number; isRunning: boolean; system: Promise<System> } | undefined;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** Never rejects, and resolves within three seconds. A part that fails or takes longer is null. */
  read(): Promise<System> {
    const now = performance.now();
    const latest = this.#latest;
    if (latest !== undefined && (latest.isRunning || now - latest.startedAt < SHARED_MS))
      return latest.system;
    const reading = { startedAt: now, isRunning: true, system: this.#read() };
    this.#latest = reading;
    void reading.system.finally(() => {
      reading.isRunning = false;
    });
    return reading.system;
  }

  async #read(): Promise<System> {
    const { db, bus, objects, checks, engines, attempts, imports, webhookDeliveries, lastBackup } =
      this.#sources;
    const readAt = new Date();
    const [
      database,
      queue,
      storage,
      versions,
      deadLetters,
      engineRecords,
      videos,
      uploads,
      importWork,
      deliveries,
      backups,
    ] = await Promise.all([
      this.#health('database', checks.database),
      this.#health('queue', checks.queue),
      this.#health('storage', checks.storage),
      this.#part('versions', () => findDatabaseVersions(db)),
      this.#part('dead letters', () => deadLettersOf(bus)),
      this.#part('engines', () => engines.list()),
      this.#part('videos', () => attempts.backlog()),
      this.#part('uploads', () => countUploads(db)),
      this.#part('imports', () => imports.backlog()),
      this.#part('webhook deliveries', () => webhookDeliveries.backlog()),
      this.#part('backups', async () => ({ last: (await lastBackup()) ?? null })),
    ]);
    return {
      readAt: readAt.toISOString(),
      versions: {
        framelane: VERSION,
        node: process.versions.node,
        postgresql: versions?.server ?? null,
        schema: versions?.schema ?? null,
      },
      health: {
        database: { ...database, kind: 'postgresql' },
        queue: { ...queue, kind: bus.kind },
        storage: { ...storage, kind: objects.kind },
      },
      engines: engineRecords,
      videos,
      uploads: uploads === null ? null : { running: uploads },
      imports: importWork,
      webhookDeliveries: deliveries,
      deadLetters,
      backups,
    };
  }

  async #health(part: string, check: () => Promise<void>): Promise<Pick<Health, 'status' | 'latencyMs'>> {
    const startedAt = performance.now();
    const isUp = await this.#part(part, async () => {
      await check();
      return true;
    });
    if (isUp === null) return { status: 'unavailable', latencyMs: null };
    const latencyMs = Math.round(performance.now() - startedAt);
    return { status: latencyMs > SLOW_MS ? 'slow' : 'healthy', latencyMs };
  }

  /** Null if it fails or takes too long. */
  async #part<T>(part: string, read: () => Promise<T>): Promise<T | null> {
    try {
      return await pTimeout(read(), { milliseconds: LIMIT_MS });
    } catch (error) {
      this.#sources.logger.warn('system.part_not_read', { part, error });
      return null;
    }
  }
}

async function deadLettersOf(bus: Sources['bus']): Promise<NonNullable<System['deadLetters']>> {
  const [events, ...commands] = await Promise.all([
    bus.countDeadLetters('control-plane.events'),
    ...COMMAND_TYPES.map((type) => bus.countDeadLetters(queueFor(type))),
  ]);
  return { commands: commands.reduce((sum, count) => sum + count, 0), events };
}
