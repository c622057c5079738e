import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskTry } from '@framelane/contracts/messages';
import type { RenditionName } from '@framelane/contracts/renditions';
import { audioSegmentStarts } from '@framelane/contracts/segment-times';
import type { EncodePlan, TaskPlan } from '@framelane/contracts/transcode-plan';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { explainToolError } from '../ffmpeg/errors.ts';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import type { ProgressKey } from '../ffmpeg/progress.ts';
import { type FfmpegCommandLine, runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { packagerOf } from '../packagers/packagers.ts';
import { copiedRenditions } from '../plan/encode-plan.ts';
import { BUFFER_SECONDS } from '../plan/stream-copy.ts';
import { skippedSeconds } from '../plan/trim.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import { grantFolder, OUTPUT_FOLDER } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../sandbox/tool-output.ts';
import { MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { Storing } from './kinds.ts';
import {
  SegmentUploads,
  type SegmentUploadsOptions,
  type StoredSegments,
} from './renditions/segment-uploads.ts';

/** What a run of ffmpeg needs. */
export type RunContext = {
  objects: ObjectStore;
  tools: MediaTools;
  settings: TranscodeSettings;
  logger: Logger;
  /** Undefined if this engine has none. */
  recognizer?: Recognizer | undefined;
  signal: AbortSignal;
  /** Called with the progress, 0 to 1. */
  onProgress: (fraction: number) => void;
};

/** The output of a try. */
export type TaskOutput = {
  /** For the log. */
  facts: TaskTry;
  contentKey: Uint8Array;
  /** All object keys of the try begin with this. */
  prefix: string;
  /** Called before the try starts over with another plan, after its objects are removed. */
  onStartOver?: () => void;
  /** Called when the first segment of a rendition is stored. */
  onRenditionStarted?: SegmentUploadsOptions['onRenditionStarted'];
};

/** A run of ffmpeg whose output is stored. */
export type StoredRun<T> = {
  output: TaskOutput;
  commandLine: FfmpegCommandLine;
  /** Whether ffmpeg may open the device of the engine. */
  usesDevice?: boolean;
  /** Whether it yields to all other runs. */
  isBackground?: boolean;
  /** Seconds of video that the run processes. They determine its time limit. */
  seconds: number;
  /** What shows the progress of the run, and its value at the end. */
  progress: { key: ProgressKey; end: number };
  segments: Pick<SegmentUploadsOptions, 'renditions' | 'iFramesOf' | 'maxSegments' | 'piece'>;
  /** Stores the other files that ffmpeg wrote, after it has ended. */
  storeOthers: (files: ToolOutput, storing: Storing) => Promise<T>;
};

/** For runs that write segments only. */
export async function noOthers(): Promise<undefined> {}

const MICROSECONDS = 1_000_000;

/** Seconds that decoding and dropping one second of the source may take. Meanwhile, ffmpeg reports no progress. */
const SKIPPING_SECONDS = 4;

/** How many times longer a run may take that other runs slow down. */
const BACKGROUND_PATIENCE = 10;

/** The seconds of the source that a run from the beginning to the end of a plan reads. */
export function secondsRead(plan: EncodePlan): number {
  return skippedSeconds(plan) + plan.duration;
}

/** The progress of a run by the time of its first output. */
export function timeProgress({ duration }: EncodePlan): StoredRun<unknown>['progress'] {
  return { key: 'out_time_us', end: duration * MICROSECONDS };
}

const SEGMENT_OVERHEAD_BYTES = 1024 ** 2;

/** Runs ffmpeg, and stores segments while it runs and other files afterwards. Throws a TranscodeFailure or an InvalidSegmentError. */
export async function runAndStore<T>(
  run: StoredRun<T>,
  plan: EncodePlan,
  directory: string,
  context: RunContext,
): Promise<{ stored: StoredSegments; others: T }> {
  const { facts, contentKey, prefix, onRenditionStarted } = run.output;
  const { encodeSeconds, stallSeconds, memoryBytes } = context.settings.limits;
  const folder = join(directory, OUTPUT_FOLDER);
  await mkdir(folder);
  await grantFolder(folder, 'write', context.tools.account);
  const output = await ToolOutput.open(folder);
  const failure = new AbortController();
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const uploads = new SegmentUploads({
    ...run.segments,
    copied: copiedRenditions(plan),
    output,
    objects: context.objects,
    packager: packagerOf(plan.packaging),
    contentKey,
    keyOf: (rendition, sequence) => segmentKeyBelow(prefix, rendition, sequence, plan.packaging),
    onRenditionStarted,
    maxBytes: maxSegmentBytes(plan),
    signal,
    onFailure: (reason) => failure.abort(reason),
  });
  try {
    const patience = run.isBackground ? BACKGROUND_PATIENCE : 1;
    await runFfmpeg(run.commandLine, {
      program: programOf(run, context.tools),
      cwd: directory,
      signal,
      limitSeconds: Math.min(
        patience * (encodeSeconds.fixed + encodeSeconds.perSecondOfVideo * run.seconds),
        encodeSeconds.max,
      ),
      stallSeconds: patience * stallSeconds + SKIPPING_SECONDS * skippedSeconds(plan),
      memoryBytes,
      progressKey: run.progress.key,
      onProgress: (value) => {
        context.onProgress(Math.min(1, value / run.progress.end));
        void uploads.collect();
      },
      mustPause: () => uploads.isBehind,
    });
    context.logger.info('transcode.ffmpeg_ended', facts);
    const storing = [
      uploads.finish(),
      run.storeOthers(output, { objects: context.objects, prefix, signal }),
    ] as const;
    // Waits for both, also after a failure: else an image could be stored after the caller has removed the objects of the try.
    await Promise.allSettled(storing);
    const [stored, others] = await Promise.all(storing);
    return { stored, others };
  } catch (error) {
    if (error instanceof ToolOutputError) throw hostileOutput(error);
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    // Otherwise an upload could store a segment after the caller has removed the objects of the try.
    failure.abort();
    await uploads.settle();
    await output.close();
  }
}

function programOf(
  { usesDevice, isBackground }: Pick<StoredRun<unknown>, 'usesDevice' | 'isBackground'>,
  { ffmpeg, backgroundFfmpeg, deviceFfmpeg }: MediaTools,
): string {
  if (!usesDevice) return isBackground ? backgroundFfmpeg : ffmpeg;
  if (deviceFfmpeg === undefined) throw new Error('The engine has no device');
  return deviceFfmpeg;
}

/** Size limit of a segment: twice the bytes that the highest maximum bit rate and its buffer allow, plus packet overhead. */
export function maxSegmentBytes({ videoRenditions, segmentSeconds }: EncodePlan): number {
  const highest = Math.max(0, ...videoRenditions.map(({ maxRate }) => maxRate));
  const seconds = segmentSeconds + MAX_GOP_SECONDS + BUFFER_SECONDS;
  return SEGMENT_OVERHEAD_BYTES + 2 * (highest / 8) * seconds;
}

/** The names of renditions. */
export function namesOf(renditions: readonly { name: RenditionName }[]): Set<RenditionName> {
  return new Set(renditions.map(({ name }) => name));
}

/** The maximum number of segments of a rendition of the whole video. Audio may have one more than planned, which is very short. */
export function maxSegments({ encode, segmentStarts }: Pick<TaskPlan, 'encode' | 'segmentStarts'>): number {
  const ofAudio = encode.audio.map(({ end }) => audioSegmentStarts(encode, end).length);
  return Math.max(segmentStarts.length, ...ofAudio) + 1;
}
