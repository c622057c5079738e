import type {
  EncodePlan,
  PieceTask,
  TranscodePlan,
  VideoRenditionPlan,
} from '@framelane/contracts/transcode-plan';
import { PACKAGER } from '../packagers/packagers.ts';
import { segmentFile } from '../packagers/segment-files.ts';
import { encodedRenditions } from '../plan/encode-plan.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT } from '../sandbox/job-folder.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import {
  type ArgumentSettings,
  imageOptions,
  inputOptions,
  MAX_THREADS,
  renditionOutputs,
  TIMESTAMP_OFFSET_SECONDS,
  WITHOUT_METADATA,
} from './arguments.ts';
import { pieceEncoderOptions } from './encoder-options.ts';
import { audioGraphs, CANDIDATES, IMAGES, imagesGraph, pieceGraph } from './filter-graph.ts';
import type { FfmpegCommandLine } from './run-ffmpeg.ts';

/** The run that copies all video of the source as the top rendition. */
export function copyArguments(plan: EncodePlan, settings: ArgumentSettings): FfmpegCommandLine {
  return partArguments({ ...plan, videoRenditions: plan.videoRenditions.slice(-1), audio: [] }, [], settings);
}

/** The run that produces all audio renditions. */
export function audioArguments(plan: EncodePlan, settings: ArgumentSettings): FfmpegCommandLine {
  const part = { ...plan, videoRenditions: [], copiesVideo: false };
  return partArguments(part, audioGraphs(withFileTimes(part)), settings);
}

function partArguments(
  part: EncodePlan,
  graphs: readonly string[],
  settings: ArgumentSettings,
): FfmpegCommandLine {
  const threads = Math.min(settings.threads, MAX_THREADS);
  return {
    inputOptions: [...inputOptions(part, threads), ...timeOptions(part)],
    input: SOURCE_INPUT,
    outputs: renditionOutputs(part, graphs, { ...settings, threads }),
  };
}

/** The run that produces the images. Its first output, which is not written, shows the progress. */
export function imagesArguments(
  plan: EncodePlan,
  { keyFramesOnly }: { keyFramesOnly: boolean },
  settings: Pick<TranscodeSettings, 'threads'>,
): FfmpegCommandLine {
  const threads = Math.min(settings.threads, MAX_THREADS);
  const graph = [
    '-filter_complex_threads',
    String(threads),
    '-filter_complex',
    imagesGraph(withFileTimes(plan)),
  ];
  return {
    inputOptions: [
      ...inputOptions({ ...plan, audio: [] }, threads),
      ...timeOptions(plan),
      ...(keyFramesOnly ? ['-skip_frame', 'nokey'] : []),
    ],
    input: SOURCE_INPUT,
    outputs: [
      { options: [...graph, '-map', `[${CANDIDATES}]`, '-f', 'null'], path: '-' },
      ...IMAGES.map((name) => ({ options: imageOptions(name), path: `${OUTPUT_FOLDER}/${name}.jpg` })),
    ],
  };
}

/**
 * Keeps the timestamps of the file if the filters subtract its start time. Otherwise ffmpeg would subtract the start time of the mapped tracks
 * (`correct_input_start_times` of ffmpeg).
 */
function timeOptions({ reading }: EncodePlan): string[] {
  return reading?.startTime === undefined ? [] : ['-copyts'];
}

/** A plan whose filters expect the timestamps of the file. */
function withFileTimes(plan: EncodePlan): EncodePlan {
  return { ...plan, lead: Number((plan.lead + (plan.reading?.startTime ?? 0)).toFixed(6)) };
}

/**
 * The run that encodes a piece in all encoded renditions. Key frames and segments are where the plan has them. Timestamps and
 * segment numbers are those of the whole video. ffmpeg writes segments under their final names: a segment is complete when the
 * next one has begun, or ffmpeg has ended.
 *
 * @param settings the encoder settings of the plan, and the engine's number of `threads` for the decoder
 */
export function pieceArguments(
  plan: EncodePlan,
  piece: PieceTask,
  settings: { encoder: TranscodePlan['encoder']; threads: number },
): FfmpegCommandLine {
  const encoder = { ...settings.encoder, threads: Math.min(settings.encoder.threads, MAX_THREADS) };
  const threads = String(encoder.threads);
  const { seek } = piece;
  const graph = [
    '-filter_complex_threads',
    threads,
    '-filter_complex',
    pieceGraph(withFileTimes(plan), piece),
  ];
  return {
    inputOptions: [
      ...inputOptions({ ...plan, audio: [] }, Math.min(settings.threads, MAX_THREADS)),
      // The timestamps after a seek equal those of one run from the beginning.
      ...(plan.reading?.startTime === undefined ? ['-copyts', '-start_at_zero'] : timeOptions(plan)),
      ...(seek === null ? [] : ['-ss', seek.toFixed(6)]),
    ],
    input: SOURCE_INPUT,
    outputs: encodedRenditions(plan).map((rendition, at) => ({
      options: [
        ...(at === 0 ? graph : []),
        ...['-map', `[${rendition.name}]`, ...WITHOUT_METADATA],
        ...pieceEncoderOptions(rendition, { plan, piece, settings: encoder }),
        ...segmentOptions(rendition, piece),
      ],
      path: `${OUTPUT_FOLDER}/${segmentFile(rendition.name, '%d')}`,
    })),
  };
}

/** Cuts segments by frame numbers: they are exact, unlike times. One muxer writes all segments, so that each continues the previous one. */
function segmentOptions({ frameStep }: VideoRenditionPlan, piece: PieceTask): string[] {
  const { firstSegment, firstFrame, frames, segmentStarts } = piece;
  // The end of the piece begins no segment, but ffmpeg needs a frame in the list.
  const starts = [...segmentStarts.slice(1), firstFrame + frames];
  const inRendition = starts.map((frame) => Math.ceil((frame - firstFrame) / frameStep));
  return [
    ...['-output_ts_offset', String(TIMESTAMP_OFFSET_SECONDS)],
    ...['-f', 'segment', ...PACKAGER.segmentOptions, '-segment_start_number', String(firstSegment)],
    ...['-segment_frames', inRendition.join(',')],
  ];
}
