import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import type { HardwareDevice } from '../hardware/hardware-device.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { DiskReservations } from './disk-reservations.ts';
import type { Media } from './media.ts';
import type { SourceCache } from './source-cache.ts';
import type { TaskClient } from './task-client.ts';

export type WorkerDependencies = {
  bus: MessageBus;
  objects: ObjectStore;
  controlPlane: TaskClient;
  logger: Logger;
  metrics: EngineMetrics;
  settings: TranscodeSettings;
  recognizerApiKey?: string | undefined;
  /** Default: ffmpeg. */
  media?: Media | undefined;
};

/** What the handlers of a started worker share. */
export type WorkerParts = WorkerDependencies & {
  media: Media;
  tools: MediaTools;
  /** What encodes video on this engine, unless software does. */
  hardware: HardwareDevice | undefined;
  /** Undefined if this engine recognises no speech. */
  recognizer: Recognizer | undefined;
  /** Each job creates its directory here. */
  jobsDir: string;
  disk: DiskReservations;
  sources: SourceCache;
  /** Aborted with an EngineStoppedError when the worker stops. */
  stopping: AbortSignal;
};
