import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { type EncodePlan, isSoundAlone, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import {
  type ArgumentSettings,
  inputOptions,
  MAX_THREADS,
  renditionOutputs,
  timeOptions,
  watermarkInput,
  withFileTimes,
} from '../ffmpeg/arguments.ts';
import { filterGraphs } from '../ffmpeg/filter-graph.ts';
import { deviceOptions, type HardwareRun } from '../ffmpeg/hardware-run.ts';
import type { FfmpegCommandLine } from '../ffmpeg/run-ffmpeg.ts';
import { InvalidSegmentError } from '../packagers/packager.ts';
import { iFrameSource } from '../plan/encode-plan.ts';
import { SOURCE_INPUT } from '../sandbox/job-folder.ts';
import type { ToolOutput } from '../sandbox/tool-output.ts';
import type { BesideRenditions, Storing } from './kinds.ts';
import { BESIDE_RENDITIONS } from './outputs.ts';
import { describeStored } from './renditions/describe-stored.ts';
import {
  maxSegments,
  namesOf,
  type RunContext,
  runAndStore,
  secondsRead,
  type TaskOutput,
  timeProgress,
} from './stored-run.ts';

const OTHERS = Object.entries(BESIDE_RENDITIONS).flatMap(([name, beside]) =>
  beside === null ? [] : [{ name, beside: beside as BesideRenditions<unknown> }],
);

/**
 * The one ffmpeg run that produces all outputs of a video. It decodes once, scales each rendition from the next higher one, encodes each audio
 * track once, and cuts all renditions at the same times. Tracks that need no encoding are copied undecoded.
 */
export function wholeArguments(plan: EncodePlan, settings: ArgumentSettings): FfmpegCommandLine {
  const threads = Math.min(settings.threads, MAX_THREADS);
  const seeks = plan.reading?.seek !== undefined;
  const filtered = seeks ? withFileTimes(plan) : plan;
  const others = {
    taps: OTHERS.flatMap(({ beside }) => beside.taps(plan)),
    chains: OTHERS.flatMap(({ beside }) => beside.chains(filtered)),
  };
  const graphs = filterGraphs(filtered, others, settings.device);
  return {
    inputOptions: [
      ...deviceOptions(settings.device),
      ...inputOptions(plan, threads),
      ...(seeks ? timeOptions(plan) : []),
    ],
    input: SOURCE_INPUT,
    ...watermarkInput(plan),
    // ffmpeg reports the progress of the first output.
    outputs: [
      ...renditionOutputs(plan, graphs, { ...settings, threads }),
      ...OTHERS.flatMap(({ beside }) => beside.files(plan)),
    ],
  };
}

/** Stores what the run has written beside segments. All files are stored one after another: few are written, and they are small. */
async function storeOthers(files: ToolOutput, encode: EncodePlan, storing: Storing): Promise<TaskResult> {
  const results: [string, unknown][] = [];
  for (const { name, beside } of OTHERS) results.push([name, await beside.store(files, encode, storing)]);
  return Object.fromEntries(results);
}

/**
 * Makes all renditions of a video, and all outputs beside them, in one run of ffmpeg. Throws an InvalidSegmentError if the segments of the renditions do not
 * match, and a TranscodeFailure if a segment of encoded media is truncated.
 *
 * @param context.device encodes video, if the plan says so
 */
export async function runWhole(
  output: TaskOutput,
  plan: TranscodePlan,
  directory: string,
  context: RunContext & { device?: HardwareRun | undefined },
): Promise<TaskResult> {
  const { encode, iFrames } = plan;
  const { device } = context;
  const lowest = encode.videoRenditions[0];
  const { stored, others } = await runAndStore(
    {
      output,
      commandLine: wholeArguments(encode, { ...context.settings, device }),
      usesDevice: device !== undefined,
      seconds: secondsRead(encode),
      // ffmpeg reports the frame number of its first output, the lowest rendition.
      progress: isSoundAlone(encode)
        ? timeProgress(encode)
        : { key: 'frame', end: Math.ceil(encode.frames / (lowest?.frameStep ?? 1)) },
      segments: {
        renditions: namesOf([...encode.videoRenditions, ...encode.audio]),
        iFramesOf: iFrames ? iFrameSource(encode.videoRenditions) : null,
        maxSegments: maxSegments(plan),
      },
      storeOthers: (files, storing) => storeOthers(files, encode, storing),
    },
    encode,
    directory,
    context,
  );
  const renditions = describeStored(encode, stored, { firstFrame: 0, frames: encode.frames });
  const result = { ...others, renditions };
  // The control plane joins it, too, but cannot let the engine try another plan.
  try {
    joinManifest(plan, [result]);
  } catch (error) {
    throw new InvalidSegmentError('The segments are not as planned', { cause: error });
  }
  return result;
}
