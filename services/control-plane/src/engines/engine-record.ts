import type { components } from '@framelane/openapi/types';
import type { SeenEngine } from './engines.store.ts';

/** An engine as the state of the installation shows it. */
export type EngineRecord = components['schemas']['SystemEngine'];

/** An engine counts as lost this long after its last announcement. Engines announce themselves every 5 seconds. */
export const LOST_AFTER_SECONDS = 20;

export function toEngineRecord(engine: SeenEngine): EngineRecord {
  return {
    id: engine.id,
    host: engine.host,
    port: engine.port,
    status: engine.silent_seconds > LOST_AFTER_SECONDS ? 'lost' : engine.state,
    roles: engine.roles,
    version: engine.version,
    nodeVersion: engine.node_version,
    ffmpegVersion: engine.ffmpeg_version,
    hardware: engine.hardware && { kind: engine.hardware, refusal: engine.hardware_refusal },
    slots: engine.slots,
    slotsBusy: engine.slots_busy,
    tasks: engine.tasks,
    uploads: engine.uploads,
    imports: engine.imports,
    diskFreeBytes: engine.disk_free_bytes,
    startedAt: engine.started_at.toISOString(),
    lastSeenAt: engine.last_seen_at.toISOString(),
  };
}
