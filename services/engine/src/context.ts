import { AddressGuard } from '@framelane/address-guard/address-guard';
import { type ResolveHost, resolveHost } from '@framelane/address-guard/resolve-host';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { traced } from '@framelane/message-bus/traced-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { ReadinessChecks } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import type { Tracing } from '@framelane/service-kit/tracing';
import { Announcements } from './announcements.ts';
import type { EngineConfig } from './config.ts';
import { ControlPlaneClient } from './control-plane-client.ts';
import { Imports } from './imports/imports.ts';
import { EngineMetrics } from './metrics/engine-metrics.ts';
import { ResumableUploads } from './resumable-uploads/resumable-uploads.ts';
import type { Media } from './transcode/media.ts';
import { TranscodeWorker } from './transcode/transcode-worker.ts';
import { StorageHeadroom } from './uploads/storage-headroom.ts';
import { UploadSlots } from './uploads/upload-slots.ts';
import { Uploads } from './uploads/uploads.ts';

/** All parts of an engine, connected to each other. */
export type EngineContext = {
  config: EngineConfig;
  logger: Logger;
  metrics: EngineMetrics;
  /** Undefined without the role `upload`. */
  uploads: Uploads | undefined;
  resumableUploads: ResumableUploads | undefined;
  imports: Imports | undefined;
  /** Undefined without the role `transcode`. */
  worker: TranscodeWorker | undefined;
  announcements: Announcements;
  checks: ReadinessChecks;
};

/** What the process that runs the engine provides. */
export type EngineDeps = {
  bus: MessageBus;
  objects: ObjectStore;
  logger: Logger;
  /** Undefined if no traces are exported. */
  tracing?: Tracing | undefined;
  /** Resolves the host names of imports. Default: by DNS. Tests replace it. */
  resolveHost?: ResolveHost;
  /** Makes outputs. Default: ffmpeg. The simulation replaces it. */
  media?: Media;
};

/** Builds the parts of an engine. It opens no connection and starts nothing. */
export function createContext(
  config: EngineConfig,
  { objects, logger, tracing, ...deps }: EngineDeps,
): EngineContext {
  const bus = traced(deps.bus, tracing);
  const controlPlane = new ControlPlaneClient({
    baseUrl: config.controlPlaneUrl,
    secret: config.secrets.service,
  });
  const metrics = new EngineMetrics(config.roles, config.transcode);
  const headroom = new StorageHeadroom(objects);
  const shared = { bus, objects, controlPlane, logger, tracing, metrics };
  const slots = new UploadSlots(config.uploads.maxConcurrent, config.uploads.contendedBytesPerSecond);
  const receiving = { ...shared, headroom, slots, limits: config.uploads };
  const receives = config.roles.includes('upload');
  const uploads = receives ? new Uploads(receiving) : undefined;
  const resumableUploads = receives ? new ResumableUploads(receiving) : undefined;
  const guard = new AddressGuard({
    allowedRanges: config.imports.allowedRanges,
    publicProtocols: ['https:', 'http:'],
    resolveHost: deps.resolveHost ?? resolveHost,
  });
  const imports = receives
    ? new Imports({ ...shared, headroom, guard, limits: config.uploads, settings: config.imports })
    : undefined;
  const worker = config.roles.includes('transcode')
    ? new TranscodeWorker({
        ...shared,
        settings: config.transcode,
        recognizerApiKey: config.secrets.recognizer,
        media: deps.media,
      })
    : undefined;
  const announcements = new Announcements({
    config,
    controlPlane,
    metrics,
    logger,
    ffmpegVersion: () => worker?.ffmpegVersion ?? null,
    hardware: () => worker?.hardware ?? null,
  });
  const checks = {
    // A worker needs no check of the disk: it pauses while disk space is missing.
    ...(uploads && { uploads: () => uploads.check(), disk: () => headroom.check() }),
    controlPlane: () => controlPlane.check(),
    objectStore: () => objects.check(),
    messageBus: () => bus.check(),
  };
  return { config, logger, metrics, uploads, resumableUploads, imports, worker, announcements, checks };
}
