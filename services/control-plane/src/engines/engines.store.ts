import type { AnnounceEngineRequest } from '@framelane/contracts/internal-api';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import type { EngineRow } from '../db/schema.ts';

/** An engine, and for how long it has been silent. */
export type SeenEngine = EngineRow & { silent_seconds: number };

/** Stores that an engine is alive. */
export async function upsertEngine(
  db: Database,
  { state, ...engine }: AnnounceEngineRequest & { state: EngineRow['state'] },
): Promise<void> {
  const facts = {
    host: engine.host,
    port: engine.port,
    state,
    roles: engine.roles,
    version: engine.version,
    node_version: engine.nodeVersion,
    ffmpeg_version: engine.ffmpegVersion,
    hardware: engine.hardware?.kind ?? null,
    hardware_refusal: engine.hardware?.refusal ?? null,
    slots: engine.slots,
    slots_busy: engine.slotsBusy,
    tasks: engine.tasks,
    uploads: engine.uploads,
    imports: engine.imports,
    disk_free_bytes: engine.diskFreeBytes,
    last_seen_at: sql<Date>`now()`,
  };
  await db
    .insertInto('engines')
    .values({ id: engine.engineId, started_at: inSeconds(-engine.uptimeSeconds), ...facts })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(facts))
    .execute();
}

/** Deletes silent engines at the same host and port, such as an earlier process of this engine that was killed. */
export async function deletePredecessors(
  db: Database,
  { engineId, host, port }: Pick<AnnounceEngineRequest, 'engineId' | 'host' | 'port'>,
  silentSeconds: number,
): Promise<void> {
  await db
    .deleteFrom('engines')
    .where('host', '=', host)
    .where('port', '=', port)
    .where('id', '!=', engineId)
    .where('last_seen_at', '<', inSeconds(-silentSeconds))
    .execute();
}

export async function deleteEngine(db: Database, id: string): Promise<void> {
  await db.deleteFrom('engines').where('id', '=', id).execute();
}

/** Engines that have announced themselves within this time, by host and port. */
export async function listEngines(db: Database, withinSeconds: number): Promise<SeenEngine[]> {
  return db
    .selectFrom('engines')
    .selectAll()
    .select(sql<number>`extract(epoch from now() - last_seen_at)::float8`.as('silent_seconds'))
    .where('last_seen_at', '>', inSeconds(-withinSeconds))
    .orderBy('host')
    .orderBy('port')
    .orderBy('id')
    .execute();
}

/** Deletes the engines that have been silent for this long; for 0 all of them. */
export async function deleteSilentEngines(db: Database, silentSeconds: number): Promise<void> {
  await db.deleteFrom('engines').where('last_seen_at', '<=', inSeconds(-silentSeconds)).execute();
}
