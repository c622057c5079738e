import type { ClaimedClip, ClaimedDerivation } from '@framelane/contracts/internal-api';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { Derivation, Task } from '@framelane/contracts/outputs/tasks';
import type { EncodePlan, TaskPlan, TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Tap } from '../ffmpeg/filter-graph.ts';
import type { FfmpegCommandLine } from '../ffmpeg/run-ffmpeg.ts';
import type { KeyFrames } from '../plan/key-frames.ts';
import type { ToolOutput } from '../sandbox/tool-output.ts';
import type { ProbedSource } from '../source/probe.ts';
import type { RunContext, TaskOutput } from './stored-run.ts';

/** What the tasks of a video depend on. */
export type VideoToCut = {
  source: Pick<
    ProbedSource,
    'container' | 'entryPoints' | 'keyFramesNeedOthers' | 'layout' | 'timeline' | 'video'
  >;
  encode: EncodePlan;
  keyFrames: KeyFrames;
  /** The duration of a piece. */
  pieceSeconds: number;
};

/** What the tasks of a ready video depend on. */
export type ReadyVideo = Omit<VideoToCut, 'pieceSeconds'> & {
  /** Null if the video must not be cut. */
  pieceSeconds: number | null;
  alternatives: TranscodePlan['alternatives'];
};

/** A task, and its place among those of the video: engines begin the task with the lowest turn first. */
export type PlannedTask<T extends Task> = { task: T; turn: number };

/** One try of a task of a plan. */
export type TaskJob<T extends Task> = { plan: TaskPlan; work: T; output: TaskOutput };

/** A kind of task, as engines know it. */
export type TaskKind<T extends Task> = {
  /** The tasks of this kind that a video needs before it is ready. Null if the video cannot be cut, so that one run makes everything. */
  plan: (video: VideoToCut) => PlannedTask<T>[] | null;
  /** Those that it does not wait for. */
  planOptional?: (video: ReadyVideo) => T[];
  /**
   * Runs a task in a directory with the source, and stores its output. Throws a TranscodeFailure, an InvalidSegmentError, or the signal's reason
   * when aborted. After a failure, stored objects remain; the caller removes them.
   */
  run: (job: TaskJob<T>, directory: string, context: RunContext) => Promise<TaskResult>;
  /** Seconds of video that count as transcoded when the task is done. The tasks of a video count each second once. */
  seconds: (work: T, plan: TaskPlan) => number;
};

/** One try of a derivation. */
export type DerivationJob<W extends Derivation> = Pick<
  ClaimedDerivation,
  'packaging' | 'tracks' | 'duration' | 'startTimestamp'
> & { work: W; output: TaskOutput };

/** A kind of derivation, as engines know it. */
export type DerivationKind<W extends Derivation> = {
  /** The bytes of disk that it needs for a job whose renditions have `inputBytes`. `duration` is that of the video in seconds. */
  diskNeed: (inputBytes: number, duration: number) => number;
  /**
   * Makes the output in a directory, and stores it. Throws a TranscodeFailure, or the signal's reason when aborted. After a failure, stored objects
   * remain; the caller removes them.
   */
  run: (job: DerivationJob<W>, directory: string, context: RunContext) => Promise<TaskResult>;
};

/** One try of a clip. */
export type ClipJob = Pick<ClaimedClip, 'plan' | 'work'> & {
  parent: Omit<ClaimedClip['parent'], 'contentKey'> & { contentKey: Uint8Array };
  output: TaskOutput;
};

/**
 * How a clip gets an output other than its renditions: from these, which are stored by then, or from its parent. ffmpeg may write to the folder of
 * outputs.
 */
export type OfClip<R> = (
  job: ClipJob,
  made: { renditions: readonly StoredRendition[]; directory: string; files: ToolOutput },
  context: RunContext,
) => Promise<R>;

/** How a run that makes all renditions also makes an output of another kind, from the same decoded frames. */
export type BesideRenditions<R> = {
  /** The frames that its filters need. */
  taps: (encode: EncodePlan) => Tap[];
  /** Its filter chains, from its taps to labels of its files. */
  chains: (encode: EncodePlan) => string[];
  /** What ffmpeg writes. */
  files: (encode: EncodePlan) => FfmpegCommandLine['outputs'];
  /** Stores what ffmpeg has written, after it has ended. */
  store: (files: ToolOutput, encode: EncodePlan, storing: Storing) => Promise<R>;
};

/** Where an output is stored. */
export type Storing = {
  objects: ObjectStore;
  /** All object keys begin with this. */
  prefix: string;
  signal: AbortSignal;
};
