import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { ENGINE_STOPPED, FAILURE_CODES, type FailureCode } from '@framelane/contracts/failures';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What a transcode spends its time with: getting the source, looking at it, and all the rest. */
export type TranscodeStage = 'fetch' | 'probe' | 'encode';

const STAGES: readonly TranscodeStage[] = ['fetch', 'probe', 'encode'];

/** Upper bounds in seconds. */
const DURATIONS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 10_800];

/**
 * Counts what happens in this engine. The code that does it says what happened; how it is exposed is known here alone.
 * Labels come from short lists that are written in the code.
 */
export class EngineMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #uploads = new Counter({
    name: 'framelane_engine_uploads_total',
    help: 'Files received, transfers that broke, and uploads refused before their body was read; the latter two by code',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #uploadBytes = new Counter({
    name: 'framelane_engine_upload_bytes_total',
    help: 'Bytes of files that came in, of broken transfers too',
    registers: this.#registers,
  });
  readonly #uploadDurations = new Histogram({
    name: 'framelane_engine_upload_duration_seconds',
    help: 'Time from the head of an upload until its file was safe',
    buckets: DURATIONS,
    registers: this.#registers,
  });
  readonly #uploadsActive = new Gauge({
    name: 'framelane_engine_uploads_active',
    help: 'Files on their way',
    registers: this.#registers,
  });
  readonly #transcodes = new Counter({
    name: 'framelane_engine_transcodes_total',
    help: 'Attempts to transcode that were completed, failed, or abandoned because nobody wanted them any more',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #stageDurations = new Histogram({
    name: 'framelane_engine_transcode_stage_duration_seconds',
    help: 'Time spent on a stage of a transcode that came to its end',
    labelNames: ['stage'],
    buckets: DURATIONS,
    registers: this.#registers,
  });
  readonly #mediaSeconds = new Counter({
    name: 'framelane_engine_transcoded_media_seconds_total',
    help: 'How long the videos last that were transcoded',
    registers: this.#registers,
  });
  readonly #slotsBusy = new Gauge({
    name: 'framelane_engine_slots_busy',
    help: 'Videos being transcoded',
    registers: this.#registers,
  });

  constructor({ slots, workDir }: { slots: number; workDir: string }) {
    this.#uploads.inc({ outcome: 'received', code: '' }, 0);
    this.#transcodes.inc({ outcome: 'completed', code: '' }, 0);
    this.#transcodes.inc({ outcome: 'abandoned', code: '' }, 0);
    for (const code of [...FAILURE_CODES, ENGINE_STOPPED])
      this.#transcodes.inc({ outcome: 'failed', code }, 0);
    for (const stage of STAGES) this.#stageDurations.zero({ stage });
    this.#measureMachine(slots, workDir);
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

  /** Ends an upload that began; `seconds` since the head of its request. */
  uploadReceived(seconds: number): void {
    this.#uploadsActive.dec();
    this.#uploads.inc({ outcome: 'received', code: '' });
    this.#uploadDurations.observe(seconds);
  }

  /** Ends an upload that began. */
  uploadBroken(code: string): void {
    this.#uploadsActive.dec();
    this.#uploads.inc({ outcome: 'broken', code });
  }

  /** Runs an attempt in a slot. */
  async inSlot(attempt: () => Promise<void>): Promise<void> {
    this.#slotsBusy.inc();
    try {
      await attempt();
    } finally {
      this.#slotsBusy.dec();
    }
  }

  /** Does a stage of a transcode and takes its time. */
  async inStage<T>(stage: TranscodeStage, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const result = await work();
    this.#stageDurations.observe({ stage }, (performance.now() - begun) / 1000);
    return result;
  }

  /** `mediaSeconds` is how long the video lasts. */
  transcodeCompleted(mediaSeconds: number): void {
    this.#transcodes.inc({ outcome: 'completed', code: '' });
    this.#mediaSeconds.inc(mediaSeconds);
  }

  transcodeFailed(code: FailureCode | typeof ENGINE_STOPPED): void {
    this.#transcodes.inc({ outcome: 'failed', code });
  }

  transcodeAbandoned(): void {
    this.#transcodes.inc({ outcome: 'abandoned', code: '' });
  }

  #measureMachine(slots: number, workDir: string): void {
    const registers = this.#registers;
    new Gauge({
      name: 'framelane_engine_slots',
      help: 'Videos that can be transcoded at once',
      registers,
    }).set(slots);
    new Gauge({
      name: 'framelane_engine_disk_free_bytes',
      help: 'Room for jobs: what is free where they work',
      registers,
      async collect() {
        const space = await statfs(workDir).catch(() => undefined);
        if (space === undefined) this.set(Number.NaN);
        else this.set(space.bavail * space.bsize);
      },
    });
    new Counter({
      name: 'framelane_engine_tools_cpu_seconds_total',
      help: 'CPU time of ffmpeg and the other programs this process ran, once they have ended; Linux only',
      registers,
      collect() {
        this.reset();
        this.inc(childCpuSeconds() ?? 0);
      },
    });
  }
}

/** The unit of /proc, whatever the kernel itself counts in (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds, in user and kernel mode, of all programs this process started that have ended, with those that they
 * started in turn. Undefined where there is no Linux to tell.
 */
function childCpuSeconds(): number | undefined {
  let stat: string;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The second field, the name of the program in brackets, may have spaces; cutime and cstime are the 16th and 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
