import type { Piece } from '@framelane/contracts/outputs/piece-task';
import type { EncodePlan, TranscodePlan, VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import {
  inputOptions,
  MAX_THREADS,
  seekOptions,
  WITHOUT_METADATA,
  watermarkInput,
  withFileTimes,
} from '../../ffmpeg/arguments.ts';
import { pieceEncoderOptions } from '../../ffmpeg/encoder-options.ts';
import { pieceGraph } from '../../ffmpeg/filter-graph.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { packagerOf } from '../../packagers/packagers.ts';
import { initializationFile, segmentFile } from '../../packagers/segment-files.ts';
import { TIMESTAMP_OFFSET_SECONDS } from '../../packagers/timestamp-offset.ts';
import { encodedRenditions } from '../../plan/encode-plan.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT } from '../../sandbox/job-folder.ts';

/**
 * The run that encodes a piece in all encoded renditions. Key frames and segments are where the plan has them. Timestamps and
 * segment numbers are those of the whole video. ffmpeg writes segments under their final names: a segment is complete when the
 * next one has begun, or ffmpeg has ended.
 *
 * @param settings the encoder settings of the plan, and the engine's number of `threads` for the decoder
 */
export function pieceArguments(
  plan: EncodePlan,
  piece: Piece,
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
      ...seekOptions(plan, seek),
    ],
    input: SOURCE_INPUT,
    ...watermarkInput(plan),
    outputs: encodedRenditions(plan).map((rendition, at) =>
      pieceOutput(rendition, piece, plan, [
        ...(at === 0 ? graph : []),
        ...['-map', `[${rendition.name}]`, ...WITHOUT_METADATA],
        ...pieceEncoderOptions(rendition, { plan, piece, settings: encoder }),
      ]),
    ),
  };
}

/**
 * The output of a rendition of a piece: its segments, with the timestamps and numbers of the whole video.
 *
 * @param options what it is made of, and how it is encoded
 */
export function pieceOutput(
  rendition: VideoRenditionPlan,
  piece: Parameters<typeof pieceOutputOptions>[1],
  { packaging }: Pick<EncodePlan, 'packaging'>,
  options: readonly string[],
): FfmpegCommandLine['outputs'][number] {
  const packager = packagerOf(packaging);
  const initialization = `${OUTPUT_FOLDER}/${initializationFile(rendition.name)}`;
  const segments = packager.segmentOptions(initialization);
  return {
    options: [...options, ...pieceOutputOptions(rendition, piece, TIMESTAMP_OFFSET_SECONDS, segments)],
    path: `${OUTPUT_FOLDER}/${segmentFile(rendition.name, '%d', packager)}`,
  };
}

/**
 * Cuts segments by frame numbers: they are exact, unlike times. One muxer writes all segments, so that each continues the previous one.
 *
 * @param offset seconds that are added to all timestamps
 * @param packaging the options of the muxer (see Packager)
 */
export function pieceOutputOptions(
  { frameStep }: VideoRenditionPlan,
  piece: Pick<Piece, 'firstSegment' | 'firstFrame' | 'frames' | 'segmentStarts'>,
  offset: number,
  packaging: readonly string[],
): string[] {
  const { firstSegment, firstFrame, frames, segmentStarts } = piece;
  // The end of the piece begins no segment, but ffmpeg needs a frame in the list.
  const starts = [...segmentStarts.slice(1), firstFrame + frames];
  const inRendition = starts.map((frame) => Math.ceil((frame - firstFrame) / frameStep));
  return [
    ...['-output_ts_offset', String(offset)],
    ...['-f', 'segment', ...packaging, '-segment_start_number', String(firstSegment)],
    ...['-segment_frames', inRendition.join(',')],
  ];
}
