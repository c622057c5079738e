import { CLOCK_HZ, START_TIMESTAMP } from '@framelane/contracts/manifest';
import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { encoderOf } from '../../../encoders/encoders.ts';
import { MAX_THREADS, TIMESTAMP_OFFSET_SECONDS, WITHOUT_METADATA } from '../../../ffmpeg/arguments.ts';
import { pieceEncoderOptions } from '../../../ffmpeg/encoder-options.ts';
import type { FfmpegCommandLine } from '../../../ffmpeg/run-ffmpeg.ts';
import { segmentFile } from '../../../packagers/segment-files.ts';
import { copiedRenditions } from '../../../plan/encode-plan.ts';
import { KEY_FRAME_SECONDS } from '../../../plan/key-frames.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { toFraction, toNumber } from '../../../source/frame-rate.ts';
import type { ClipJob } from '../../kinds.ts';
import { READ_SEGMENTS } from '../../stored-tracks.ts';
import { pieceOutputOptions } from '../piece-arguments.ts';
import { type Edge, timestampOf } from './clip-job.ts';

/** What the muxer adds to all timestamps, so that no decoding time is negative. */
export const MUXER_DELAY_SECONDS = START_TIMESTAMP / CLOCK_HZ - TIMESTAMP_OFFSET_SECONDS;

/** The file with the segment of the parent that an edge is made from, in the folder of the inputs. */
export function edgeInput({ sequence }: Edge, rendition: string): string {
  return `edge-${rendition}-${sequence}`;
}

/** How an edge of the copied rendition is encoded, so that it continues the copy. */
export type Continuations = Map<VideoRenditionPlan['name'], { codecs: string; delaySeconds: number }>;

/**
 * The run that encodes an edge in all video renditions, each from the segment of the same rendition. Frames keep their timestamps: the filters count
 * them from the first one, and the muxer moves them back.
 */
export function edgeArguments(
  job: ClipJob,
  edge: Edge,
  { threads, continuations }: { threads: number; continuations: Continuations },
): FfmpegCommandLine {
  const { encode, encoder } = job.plan;
  const limited = Math.min(threads, MAX_THREADS);
  const start = timestampOf(job, edge.firstFrame);
  const inputs = encode.videoRenditions.map(({ name }) => `file:${SOURCE_FOLDER}/${edgeInput(edge, name)}`);
  const [first = '', ...others] = inputs;
  const reading = ['-threads', String(limited), ...READ_SEGMENTS];
  const copied = copiedRenditions(encode);
  return {
    inputOptions: ['-nostdin', '-hide_banner', '-v', 'error', '-copyts', ...reading],
    input: first,
    moreInputs: others.map((path) => ({ options: reading, path })),
    outputs: encode.videoRenditions.map((rendition, at) => {
      const continuation = copied.has(rendition.name) ? continuations.get(rendition.name) : undefined;
      const piece = {
        firstSegment: edge.sequence,
        firstFrame: 0,
        frames: edge.frames,
        segmentStarts: [0],
        keyFrames: keyFramesOf(job, edge),
      };
      return {
        options: [
          ...['-map', `${at}:v:0`, ...WITHOUT_METADATA, '-filter:v', frames(job, edge, rendition, start)],
          ...pieceEncoderOptions(rendition, {
            plan: encode,
            piece,
            settings: { preset: encoder.preset, threads: limited },
          }),
          ...(continuation === undefined
            ? []
            : encoderOf(rendition.name)
                .continuation(continuation.codecs, continuation.delaySeconds)
                .options.flatMap(([option, value]) => [`${option}:v`, value])),
          ...pieceOutputOptions(rendition, piece, Number((start - MUXER_DELAY_SECONDS).toFixed(6))),
        ],
        path: `${OUTPUT_FOLDER}/${segmentFile(rendition.name, '%d')}`,
      };
    }),
  };
}

/** Exactly the frames of an edge, counted from zero. */
function frames(
  { plan: { encode } }: ClipJob,
  edge: Edge,
  { frameStep }: VideoRenditionPlan,
  start: number,
): string {
  const { numerator, denominator } = encode.frameRate;
  const { matrix, primaries, transfer } = encode.colour;
  return [
    `setpts=PTS-${start.toFixed(6)}/TB`,
    `fps=${toFraction({ numerator, denominator: denominator * frameStep })}:start_time=0`,
    'tpad=stop_mode=clone:stop=-1',
    `trim=end_frame=${Math.ceil(edge.frames / frameStep)}`,
    'format=yuv420p',
    `setparams=range=tv:colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}`,
  ].join(',');
}

/** A key frame every two seconds from the beginning of the edge, at frames that all renditions have. */
function keyFramesOf({ plan: { encode } }: ClipJob, { frames: count }: Edge): number[] {
  const step = Math.max(...encode.videoRenditions.map(({ frameStep }) => frameStep));
  const distance = step * Math.ceil((KEY_FRAME_SECONDS * toNumber(encode.frameRate)) / step);
  return Array.from({ length: Math.ceil(count / distance) }, (_, at) => at * distance);
}
