import { readFileSync } from 'node:fs';
import {
  ENGINE_STOPPED,
  TRANSCODE_FAILURE_CODES,
  type TranscodeFailureCode,
} from '@framelane/contracts/failures';
import { COMMAND_TYPES, type CommandType } from '@framelane/contracts/messages';
import { withSpan } from '@framelane/service-kit/tracing';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EngineRole } from '../config.ts';
import { freeDiskBytes } from '../disk-space.ts';
import { DEVICE_OUTCOMES, type DeviceOutcome } from '../hardware/device-outcome.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';

/** The stages of a transcode: fetching the source, probing it, and the rest. */
export type TranscodeStage = 'fetch' | 'probe' | 'encode';

const STAGES: readonly TranscodeStage[] = ['fetch', 'probe', 'encode'];

/** Upper bounds in seconds. */
const DURATIONS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 10_800];

/**
 * The metrics of this engine. Other code reports events; only this class depends on Prometheus. All label values come from short
 * lists in the code.
 */
export class EngineMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #roles = new Gauge({
    name: 'framelane_engine_roles',
    help: '1 for each role of this engine',
    labelNames: ['role'],
    registers: this.#registers,
  });
  readonly #uploads = new Counter({
    name: 'framelane_engine_uploads_total',
    help: 'Uploads received, paused, broken during the transfer, and refused before the body was read; the latter two by code',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #uploadBytes = new Counter({
    name: 'framelane_engine_upload_bytes_total',
    help: 'Bytes of files received, including broken transfers',
    registers: this.#registers,
  });
  readonly #uploadDurations = new Histogram({
    name: 'framelane_engine_upload_duration_seconds',
    help: 'Time from the request headers of an upload until its file was stored and registered',
    buckets: DURATIONS,
    registers: this.#registers,
  });
  readonly #uploadsActive = new Gauge({
    name: 'framelane_engine_uploads_active',
    help: 'Uploads in progress',
    registers: this.#registers,
  });
  readonly #imports = new Counter({
    name: 'framelane_engine_imports_total',
    help: 'Transfers of imports that were received, failed, or were abandoned because the engine stopped, the video was deleted or the registration was not confirmed',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #importBytes = new Counter({
    name: 'framelane_engine_import_bytes_total',
    help: 'Bytes of files fetched, including failed transfers',
    registers: this.#registers,
  });
  readonly #importsActive = new Gauge({
    name: 'framelane_engine_imports_active',
    help: 'Imports in progress',
    registers: this.#registers,
  });
  readonly #transcodes = new Counter({
    name: 'framelane_engine_transcodes_total',
    help: 'Tries of first tasks that transcoded the video, failed, or were abandoned because they lost their lease or their video was deleted',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #stageDurations = new Histogram({
    name: 'framelane_engine_transcode_stage_duration_seconds',
    help: 'Duration of completed transcode stages',
    labelNames: ['stage'],
    buckets: DURATIONS,
    registers: this.#registers,
  });
  readonly #mediaSeconds = new Counter({
    name: 'framelane_engine_transcoded_media_seconds_total',
    help: 'Duration of all transcoded videos',
    registers: this.#registers,
  });
  readonly #sourceBytes = new Counter({
    name: 'framelane_engine_source_bytes_total',
    help: 'Bytes of sources copied from the object store',
    registers: this.#registers,
  });
  readonly #sourcesThatDoNotFit = new Counter({
    name: 'framelane_engine_disk_refusals_total',
    help: 'Commands left to other engines because the source does not fit on the disk, by type',
    labelNames: ['command'],
    registers: this.#registers,
  });
  readonly #deviceVideos = new Counter({
    name: 'framelane_engine_device_videos_total',
    help: 'Videos of an engine with ENGINE_VIDEO_ENCODER: encoded by the device, repeated by software because the device failed, or encoded by software because the device is refused, busy or unfit for their size',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #deviceReady = new Gauge({
    name: 'framelane_engine_device_ready',
    help: '1 if the device of ENGINE_VIDEO_ENCODER has passed its last probe, 0 if it is refused or none is set',
    registers: this.#registers,
  });
  readonly #slotsBusy = new Gauge({
    name: 'framelane_engine_slots_busy',
    help: 'Transcode slots in use',
    registers: this.#registers,
  });

  readonly #tasksActive = new Gauge({
    name: 'framelane_engine_tasks_active',
    help: 'Tasks of plans in progress',
    registers: this.#registers,
  });

  constructor(roles: readonly EngineRole[], transcode: Pick<TranscodeSettings, 'slots' | 'workDir'>) {
    for (const role of roles) this.#roles.set({ role }, 1);
    if (roles.includes('upload')) {
      for (const outcome of ['received', 'paused']) this.#uploads.inc({ outcome, code: '' }, 0);
      this.#imports.inc({ outcome: 'received', code: '' }, 0);
    }
    if (roles.includes('transcode')) this.#beginTranscodes(transcode);
  }

  #beginTranscodes({ slots, workDir }: Pick<TranscodeSettings, 'slots' | 'workDir'>): void {
    this.#transcodes.inc({ outcome: 'completed', code: '' }, 0);
    this.#transcodes.inc({ outcome: 'abandoned', code: '' }, 0);
    for (const code of [...TRANSCODE_FAILURE_CODES, ENGINE_STOPPED])
      this.#transcodes.inc({ outcome: 'failed', code }, 0);
    for (const command of COMMAND_TYPES) this.#sourcesThatDoNotFit.inc({ command }, 0);
    for (const stage of STAGES) this.#stageDurations.zero({ stage });
    for (const outcome of DEVICE_OUTCOMES) this.#deviceVideos.inc({ outcome }, 0);
    this.#measureMachine(slots, workDir);
  }

  importBegan(): void {
    this.#importsActive.inc();
  }

  importBytes(bytes: number): void {
    this.#importBytes.inc(bytes);
  }

  /** Records the end of an import's transfer. `code` is empty unless it failed. */
  importEnded(outcome: 'received' | 'failed' | 'abandoned', code: string): void {
    this.#importsActive.dec();
    this.#imports.inc({ outcome, code });
  }

  uploadRefused(code: string): void {
    this.#uploads.inc({ outcome: 'refused', code });
  }

  uploadBegan(): void {
    this.#uploadsActive.inc();
  }

  uploadBytes(bytes: number): void {
    this.#uploadBytes.inc(bytes);
  }

  /** Records the end of an upload. `seconds` is the time since its request headers. */
  uploadReceived(seconds: number): void {
    this.#uploadsActive.dec();
    this.#uploads.inc({ outcome: 'received', code: '' });
    this.#uploadDurations.observe(seconds);
  }

  /** Records that an upload has paused. The client can continue it later. */
  uploadPaused(): void {
    this.#uploadsActive.dec();
    this.#uploads.inc({ outcome: 'paused', code: '' });
  }

  /** Records the failure of an upload that had begun. */
  uploadBroken(code: string): void {
    this.#uploadsActive.dec();
    this.#uploads.inc({ outcome: 'broken', code });
  }

  /** Counts what became of a video on an engine with a device. */
  deviceUsed(outcome: DeviceOutcome): void {
    this.#deviceVideos.inc({ outcome });
  }

  /** Records whether the device has passed its probe. */
  deviceProbed(isReady: boolean): void {
    this.#deviceReady.set(isReady ? 1 : 0);
  }

  /** Runs work in a slot, which counts as busy meanwhile. */
  async inSlot(work: () => Promise<void>): Promise<void> {
    this.#slotsBusy.inc();
    try {
      await work();
    } finally {
      this.#slotsBusy.dec();
    }
  }

  /** Counts a task as running. */
  async inTask(work: () => Promise<void>): Promise<void> {
    this.#tasksActive.inc();
    try {
      await work();
    } finally {
      this.#tasksActive.dec();
    }
  }

  /** Counts bytes of sources that were copied from the object store. */
  sourceFetched(bytes: number): void {
    this.#sourceBytes.inc(bytes);
  }

  /** Counts a command that is left to other engines because of the disk. */
  sourceDidNotFit(command: CommandType): void {
    this.#sourcesThatDoNotFit.inc({ command });
  }

  /** Runs a stage of a transcode and measures its duration if it succeeds. */
  async inStage<T>(stage: TranscodeStage, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const result = await withSpan(stage, {}, work);
    this.#stageDurations.observe({ stage }, (performance.now() - begun) / 1000);
    return result;
  }

  /** `mediaSeconds` is the duration of the video. */
  transcodeCompleted(mediaSeconds: number): void {
    this.#transcodes.inc({ outcome: 'completed', code: '' });
    this.#mediaSeconds.inc(mediaSeconds);
  }

  /** `mediaSeconds` is the part of the video's duration that counts for the task. */
  taskCompleted(mediaSeconds: number): void {
    this.#mediaSeconds.inc(mediaSeconds);
  }

  transcodeFailed(code: TranscodeFailureCode | typeof ENGINE_STOPPED): void {
    this.#transcodes.inc({ outcome: 'failed', code });
  }

  transcodeAbandoned(): void {
    this.#transcodes.inc({ outcome: 'abandoned', code: '' });
  }

  /** What is in progress. */
  async load(): Promise<{ slotsBusy: number; tasks: number; uploads: number; imports: number }> {
    return {
      slotsBusy: await reading(this.#slotsBusy),
      tasks: await reading(this.#tasksActive),
      uploads: await reading(this.#uploadsActive),
      imports: await reading(this.#importsActive),
    };
  }

  #measureMachine(slots: number, workDir: string): void {
    const registers = this.#registers;
    new Gauge({
      name: 'framelane_engine_slots',
      help: 'Transcode slots: videos that can be transcoded at the same time',
      registers,
    }).set(slots);
    new Gauge({
      name: 'framelane_engine_disk_free_bytes',
      help: 'Free disk space in the work directory',
      registers,
      async collect() {
        this.set(await freeDiskBytes(workDir).catch(() => Number.NaN));
      },
    });
    new Counter({
      name: 'framelane_engine_tools_cpu_seconds_total',
      help: 'CPU time of ffmpeg and other child processes, counted when they end; Linux only',
      registers,
      collect() {
        this.reset();
        this.inc(childCpuSeconds() ?? 0);
      },
    });
  }
}

async function reading(gauge: Gauge): Promise<number> {
  const { values } = await gauge.get();
  return values[0]?.value ?? 0;
}

/** The unit of times in /proc (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds, in user and kernel mode, of all descendants of this process that have ended. Undefined on systems other than
 * Linux.
 */
function childCpuSeconds(): number | undefined {
  let stat: string;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The second field, the program name in brackets, may contain spaces. cutime and cstime are the 16th and 17th fields.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
