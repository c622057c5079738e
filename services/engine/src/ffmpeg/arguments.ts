import type { RenditionName } from '@framelane/contracts/renditions';
import { type Cuts, FIRST_SEGMENT_SECONDS } from '@framelane/contracts/segment-times';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { packagerOf } from '../packagers/packagers.ts';
import { initializationFile, segmentFile } from '../packagers/segment-files.ts';
import { TIMESTAMP_OFFSET_SECONDS } from '../packagers/timestamp-offset.ts';
import { encodedRenditions } from '../plan/encode-plan.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT, WATERMARK_INPUT } from '../sandbox/job-folder.ts';
import { analysisOptions } from '../source/track-arrivals.ts';
import { COVER_OPTIONS, DECODE_OPTIONS, watermarkOptions } from '../source/whitelist.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import { audioOptions, videoCopyOptions, videoOptions } from './encoder-options.ts';
import type { HardwareRun } from './hardware-run.ts';
import type { FfmpegCommandLine } from './run-ffmpeg.ts';

export const WITHOUT_METADATA = ['-map_metadata', '-1', '-map_chapters', '-1'];

/**
 * Each thread of a decoder or encoder holds frames. Memory must depend on the size of the video, not on the number of cores. So
 * the number of threads is limited, and so are the pixels that all decoder threads hold together.
 */
export const MAX_THREADS = 16;
const MAX_DECODER_PIXELS = MAX_THREADS * 3840 * 2160;

/**
 * When the video changes its size, ffmpeg by default builds new filters, which count frames and time from zero again.
 * `-reinit_filter 0` keeps the filters; the first one scales all frames to one size. `-noautorotate`: the filters rotate the video.
 */
const PERMANENT_FILTERS = ['-reinit_filter', '0', '-noautorotate'];

export type ArgumentSettings = Pick<TranscodeSettings, 'preset' | 'threads'> & {
  /** The device that encodes video, instead of software. */
  device?: HardwareRun | undefined;
};

/** The run of a part of a plan that reads all its tracks from beginning to end. */
export function partArguments(
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

/**
 * Keeps the timestamps of the file if the filters subtract its start time. Otherwise ffmpeg would subtract the start time of the mapped tracks
 * (`correct_input_start_times` of ffmpeg).
 */
export function timeOptions({ reading }: EncodePlan): string[] {
  const { startTime, seek } = reading ?? {};
  if (seek !== undefined) return seekOptions({ reading }, seek);
  return startTime === undefined ? [] : ['-copyts'];
}

/**
 * Begins to read at a second of the file; null for its beginning. The timestamps after a seek equal those of one run from the beginning. Filters
 * need a plan `withFileTimes`.
 */
export function seekOptions({ reading }: Pick<EncodePlan, 'reading'>, seek: number | null): string[] {
  return [
    ...['-copyts', ...(reading?.startTime === undefined ? ['-start_at_zero'] : [])],
    ...(seek === null ? [] : ['-ss', seek.toFixed(6)]),
  ];
}

/** A plan whose filters expect the timestamps of the file. */
export function withFileTimes(plan: EncodePlan): EncodePlan {
  const { startTime = 0, firstPicture } = plan.reading ?? {};
  const later = (seconds: number) => Number((seconds + startTime).toFixed(9));
  return {
    ...plan,
    lead: later(plan.lead),
    ...(firstPicture !== undefined && { reading: { ...plan.reading, firstPicture: later(firstPicture) } }),
  };
}

/** Options before the input, for the tracks that a plan uses. */
export function inputOptions(plan: EncodePlan, threads: number): string[] {
  const { maxPauseSeconds, analysis } = plan.reading ?? {};
  const ofVideo = plan.videoRenditions.length > 0 ? analysis?.video : undefined;
  const ofAudio = plan.audio.length > 0 ? analysis?.audio : undefined;
  return [
    ...['-nostdin', '-hide_banner', '-v', 'error'],
    ...(maxPauseSeconds === undefined ? [] : ['-dts_delta_threshold', String(maxPauseSeconds)]),
    ...analysisOptions(ofVideo, ofAudio),
    ...['-threads', String(decoderThreads(plan, threads))],
    ...PERMANENT_FILTERS,
    ...(plan.images.ofSound?.cover == null ? DECODE_OPTIONS : COVER_OPTIONS),
    ...plan.audio.flatMap(({ index, decodeToStereo }) =>
      decodeToStereo ? [`-downmix:${index}`, 'stereo'] : [],
    ),
  ];
}

/** The inputs after the source, for a run whose filters show the watermark (see `watermarked`). */
export function watermarkInput({ watermark }: EncodePlan): Pick<FfmpegCommandLine, 'moreInputs'> {
  if (watermark === undefined) return {};
  // Otherwise ffmpeg 7.1 and later rotate some images.
  const options = ['-noautorotate', ...watermarkOptions(watermark.format)];
  return { moreInputs: [{ options, path: WATERMARK_INPUT }] };
}

function decoderThreads({ coded }: EncodePlan, threads: number): number {
  return Math.max(1, Math.min(threads, Math.floor(MAX_DECODER_PIXELS / (coded.width * coded.height))));
}

/**
 * An output for each rendition: the encoded video from the lowest up, the video stream copy, and the audio. One HLS output for all
 * would cut short segments at the beginning of one rendition only, and would hold back video until the first frame of late audio.
 */
export function renditionOutputs(
  plan: EncodePlan,
  graphs: readonly string[],
  settings: ArgumentSettings,
): FfmpegCommandLine['outputs'] {
  const streams: { name: RenditionName; options: readonly string[] }[] = [
    ...encodedRenditions(plan).map((rendition) => ({
      name: rendition.name,
      options: ['-map', `[${rendition.name}]`, ...videoOptions(rendition, plan, settings)],
    })),
    ...(plan.copiesVideo ? plan.videoRenditions.slice(-1) : []).map((rendition) => ({
      name: rendition.name,
      options: ['-map', `0:${plan.videoIndex}`, ...videoCopyOptions(rendition, plan)],
    })),
    ...plan.audio.map((audio) => ({
      name: audio.name,
      options: [
        ...['-map', 'copiedFrames' in audio.method ? `0:${audio.index}` : `[${audio.name}]`],
        ...audioOptions(audio),
      ],
    })),
  ];
  const ofGraphs = [
    ...['-filter_complex_threads', String(settings.threads)],
    ...graphs.flatMap((graph) => ['-filter_complex', graph]),
  ];
  // A run ends when all outputs have ended: stream copies must not go on to the end of the file.
  const limit = ['-t', String(Math.ceil(plan.duration) + 1)];
  return streams.map(({ name, options }, at) => ({
    options: [
      ...(at === 0 ? ofGraphs : []),
      ...options,
      ...WITHOUT_METADATA,
      ...limit,
      ...hlsOptions(name, plan),
    ],
    path: `${OUTPUT_FOLDER}/${name}.m3u8`,
  }));
}

/**
 * Cuts segments when they are due (see `segmentDue`): the muxer applies `-hls_init_time` to the first two with a list of one segment. A
 * segment gets its final name when it is complete. The engine does not use the playlists. `-fs` has no effect on HLS (measured). The number
 * of frames, the bit rate limits and the checks of each segment bound the size of the output.
 */
function hlsOptions(
  name: RenditionName,
  { startsShort, segmentSeconds, packaging }: Pick<EncodePlan, 'packaging'> & Cuts,
): string[] {
  const packager = packagerOf(packaging);
  const first = startsShort ? ['-hls_init_time', String(FIRST_SEGMENT_SECONDS)] : [];
  return [
    ...['-output_ts_offset', String(TIMESTAMP_OFFSET_SECONDS)],
    ...['-f', 'hls', ...first, '-hls_list_size', '1'],
    ...['-hls_time', String(segmentSeconds), '-hls_flags', 'temp_file'],
    ...packager.hlsOptions(initializationFile(name)),
    ...['-hls_segment_filename', `${OUTPUT_FOLDER}/${segmentFile(name, '%d', packager)}`],
  ];
}
