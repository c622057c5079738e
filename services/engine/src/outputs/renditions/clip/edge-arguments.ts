import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { PLAIN_ENCODER } from '../../../encoders/encoders.ts';
import { MAX_THREADS, WITHOUT_METADATA } from '../../../ffmpeg/arguments.ts';
import { pieceEncoderOptions } from '../../../ffmpeg/encoder-options.ts';
import type { FfmpegCommandLine } from '../../../ffmpeg/run-ffmpeg.ts';
import type { Packager } from '../../../packagers/packager.ts';
import { initializationFile, segmentFile } from '../../../packagers/segment-files.ts';
import { KEY_FRAME_SECONDS } from '../../../plan/key-frames.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { toFraction, toNumber } from '../../../source/frame-rate.ts';
import type { ClipJob } from '../../kinds.ts';
import { readSegments } from '../../stored-tracks.ts';
import { pieceOutputOptions } from '../piece-arguments.ts';
import { packagerOfClip, timestampOf } from './clip-job.ts';

/** Frames of a group of pictures that are encoded again, counted from the first one of the clip. */
export type Cut = {
  rendition: VideoRenditionPlan;
  firstFrame: number;
  frames: number;
  /** How they continue the frames around them; null if an encoder with the settings of the plan does so anyway. */
  continuation: { codecs: string; delaySeconds: number } | null;
  /** The initialization section of the rendition; null if the packaging has none. */
  initialization: Buffer | null;
};

/** The file with the group that a cut is made from, in the folder of the inputs. */
export function cutInput({ rendition, firstFrame }: Cut): string {
  return `cut-${rendition.name}-${firstFrame}`;
}

/** The file that has a cut, in the folder of the outputs. */
export function cutOutput({ rendition, firstFrame }: Cut, packager: Packager): string {
  return segmentFile(rendition.name, firstFrame, packager);
}

/** The file that has the initialization section of a cut, if the packaging has them. */
export function cutInitialization({ rendition, firstFrame }: Cut): string {
  return initializationFile(`${rendition.name}-${firstFrame}`);
}

/**
 * The run that encodes cuts. Frames keep their timestamps: the filters count them from the first one of the cut, and the muxer moves them
 * back.
 */
export function cutArguments(job: ClipJob, cuts: readonly Cut[], threads: number): FfmpegCommandLine {
  const limited = Math.min(threads, MAX_THREADS);
  const packager = packagerOfClip(job);
  const reading = ['-threads', String(limited), ...readSegments(job.plan.encode.packaging)];
  const [first = '', ...others] = cuts.map((cut) => `file:${SOURCE_FOLDER}/${cutInput(cut)}`);
  return {
    inputOptions: ['-nostdin', '-hide_banner', '-v', 'error', '-copyts', ...reading],
    input: first,
    moreInputs: others.map((path) => ({ options: reading, path })),
    outputs: cuts.map((cut, at) => ({
      options: ['-map', `${at}:v:0`, ...WITHOUT_METADATA, ...cutOptions(job, cut, limited)],
      path: `${OUTPUT_FOLDER}/${segmentFile(cut.rendition.name, '%d', packager)}`,
    })),
  };
}

function cutOptions(job: ClipJob, cut: Cut, threads: number): string[] {
  const { encode, encoder } = job.plan;
  const { rendition, frames, continuation, initialization } = cut;
  const packager = packagerOfClip(job);
  const { continuation: continuing, reader } = PLAIN_ENCODER;
  const start = timestampOf(job, cut.firstFrame);
  const piece = {
    // ffmpeg names the file by this number.
    firstSegment: cut.firstFrame,
    firstFrame: 0,
    frames,
    segmentStarts: [0],
    keyFrames: keyFramesOf(job, cut),
  };
  const settings = { preset: encoder.preset, threads };
  return [
    ...['-filter:v', filters(job, cut, start)],
    ...pieceEncoderOptions(rendition, { plan: encode, piece, settings }),
    ...(continuation === null
      ? []
      : continuing(
          continuation.codecs,
          continuation.delaySeconds,
          packager.trackOf(initialization, reader),
        ).flatMap(([option, value]) => [`${option}:v`, value])),
    ...pieceOutputOptions(
      rendition,
      piece,
      Number((start - packager.muxerDelaySeconds).toFixed(6)),
      packager.segmentOptions(`${OUTPUT_FOLDER}/${cutInitialization(cut)}`, initialization),
    ),
  ];
}

/** Exactly the frames of a cut, counted from zero. */
function filters({ plan: { encode } }: ClipJob, { rendition, frames }: Cut, start: number): string {
  const { frameStep } = rendition;
  const { numerator, denominator } = encode.frameRate;
  const { matrix, primaries, transfer } = encode.colour;
  return [
    `setpts=PTS-${start.toFixed(6)}/TB`,
    `fps=${toFraction({ numerator, denominator: denominator * frameStep })}:start_time=0`,
    'tpad=stop_mode=clone:stop=-1',
    `trim=end_frame=${Math.ceil(frames / frameStep)}`,
    'format=yuv420p',
    `setparams=range=tv:colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}`,
  ].join(',');
}

/** A key frame every two seconds from the beginning of the cut, at frames that all renditions have. */
function keyFramesOf({ plan: { encode } }: ClipJob, { frames: count }: Cut): number[] {
  const step = Math.max(...encode.videoRenditions.map(({ frameStep }) => frameStep));
  const distance = step * Math.ceil((KEY_FRAME_SECONDS * toNumber(encode.frameRate)) / step);
  return Array.from({ length: Math.ceil(count / distance) }, (_, at) => at * distance);
}
