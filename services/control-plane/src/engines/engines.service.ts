import type { AnnounceEngineRequest } from '@framelane/contracts/internal-api';
import type { Database } from '../db/database.ts';
import { type EngineRecord, LOST_AFTER_SECONDS, toEngineRecord } from './engine-record.ts';
import {
  deleteEngine,
  deletePredecessors,
  deleteSilentEngines,
  listEngines,
  upsertEngine,
} from './engines.store.ts';

/** An engine is listed for this long after its last announcement. */
const FORGOTTEN_AFTER_SECONDS = 3600;

/** An engine that has been silent for this long is deleted when another one announces itself with the same host and port. */
const REPLACED_AFTER_SECONDS = LOST_AFTER_SECONDS / 2;

/** The engines that have announced themselves (ADR 49). They are listed for people; no decision depends on them. */
export class EnginesService {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  async announce({ state, ...engine }: AnnounceEngineRequest): Promise<void> {
    if (state === 'stopped') {
      await deleteEngine(this.#db, engine.engineId);
      return;
    }
    await upsertEngine(this.#db, { ...engine, state });
    await deletePredecessors(this.#db, engine, REPLACED_AFTER_SECONDS);
  }

  /** Engines that have announced themselves within the last hour. */
  async list(): Promise<EngineRecord[]> {
    return (await listEngines(this.#db, FORGOTTEN_AFTER_SECONDS)).map(toEngineRecord);
  }

  /** Deletes engines that are no longer listed. */
  prune(): Promise<void> {
    return deleteSilentEngines(this.#db, FORGOTTEN_AFTER_SECONDS);
  }

  /** Deletes all engines. Call it only while none runs. */
  deleteAll(): Promise<void> {
    return deleteSilentEngines(this.#db, 0);
  }
}
