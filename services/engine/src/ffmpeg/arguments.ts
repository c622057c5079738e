import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { PACKAGER } from '../packagers/packagers.ts';
import { segmentFile } from '../packagers/segment-files.ts';
import { encodedRungs } from '../plan/encode-plan.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { analysisOptions } from '../source/track-arrivals.ts';
import { DECODE_OPTIONS } from '../source/whitelist.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import { encoderOptions } from './encoder-options.ts';
import { filterGraphs, IMAGES } from './filter-graph.ts';
import type { FfmpegCommandLine } from './run-ffmpeg.ts';

/**
 * Added to all timestamps to make them positive: ffmpeg would shift negative ones by an amount that it chooses itself. The first
 * decoding timestamps of video with B-frames and of AAC are negative, by different amounts.
 */
export const TIMESTAMP_OFFSET_SECONDS = 10;

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

/**
 * Maximum size of the encoded frames of one rendition that wait for the first frame of late audio: 14 minutes at 5 Mb/s. ffmpeg's
 * default is 50 MB.
 */
const LATE_AUDIO_QUEUE_BYTES = 512 * 1024 ** 2;

export type ArgumentSettings = Pick<TranscodeSettings, 'preset' | 'threads' | 'limits'>;

/**
 * The one ffmpeg run that produces all renditions and images of a video. It decodes once, scales each rendition from the next
 * higher one, encodes each audio track once, and cuts all renditions at the same times. Passthrough tracks are copied undecoded.
 */
export function ffmpegArguments(plan: EncodePlan, settings: ArgumentSettings): FfmpegCommandLine {
  const threads = Math.min(settings.threads, MAX_THREADS);
  return {
    inputOptions: inputOptions(plan, threads),
    input: SOURCE_INPUT,
    // ffmpeg reports the progress of the first output.
    outputs: [
      {
        options: streamOptions(plan, filterGraphs(plan), { ...settings, threads }),
        path: `${OUTPUT_FOLDER}/%v.m3u8`,
      },
      ...IMAGES.map((name) => ({ options: imageOptions(name), path: `${OUTPUT_FOLDER}/${name}.jpg` })),
    ],
  };
}

/** Options before the input, for the tracks that a plan uses. */
export function inputOptions(plan: EncodePlan, threads: number): string[] {
  const { maxPauseSeconds, analysis } = plan.reading ?? {};
  const ofVideo = plan.rungs.length > 0 ? analysis?.video : undefined;
  const ofAudio = plan.audio.length > 0 ? analysis?.audio : undefined;
  return [
    ...['-nostdin', '-hide_banner', '-v', 'error'],
    ...(maxPauseSeconds === undefined ? [] : ['-dts_delta_threshold', String(maxPauseSeconds)]),
    ...analysisOptions(ofVideo, ofAudio),
    ...['-threads', String(decoderThreads(plan, threads))],
    ...PERMANENT_FILTERS,
    ...DECODE_OPTIONS,
    ...plan.audio.flatMap(({ index, decodeToStereo }) =>
      decodeToStereo ? [`-downmix:${index}`, 'stereo'] : [],
    ),
  ];
}

function decoderThreads({ coded }: EncodePlan, threads: number): number {
  return Math.max(1, Math.min(threads, Math.floor(MAX_DECODER_PIXELS / (coded.width * coded.height))));
}

export function streamOptions(
  plan: EncodePlan,
  graphs: readonly string[],
  settings: ArgumentSettings,
): string[] {
  return [
    ...['-filter_complex_threads', String(settings.threads)],
    ...graphs.flatMap((graph) => ['-filter_complex', graph]),
    ...encodedRungs(plan).flatMap(({ name }) => ['-map', `[${name}]`]),
    ...(plan.videoPassthrough ? ['-map', `0:${plan.videoIndex}`] : []),
    ...plan.audio.flatMap(({ name, index, method }) => [
      ...['-map', 'passthroughFrames' in method ? `0:${index}` : `[${name}]`],
    ]),
    ...['-sn', '-dn', ...WITHOUT_METADATA],
    ...encoderOptions(plan, settings),
    ...['-t', String(settings.limits.maxDurationSeconds)],
    ...(plan.audio.some(({ late }) => late)
      ? ['-muxing_queue_data_threshold', String(LATE_AUDIO_QUEUE_BYTES)]
      : []),
    ...hlsOptions(plan),
  ];
}

/**
 * Each image is written several times, and each version replaces the one before. The filters emit the versions as frames one
 * second apart. `-r 1` is the same rate, so ffmpeg neither repeats nor drops a version.
 */
export function imageOptions(name: string): string[] {
  return [
    ...['-map', `[${name}]`, ...WITHOUT_METADATA, '-r', '1', '-c:v', 'mjpeg', '-q:v', '4'],
    ...['-f', 'image2', '-update', '1'],
  ];
}

/**
 * A segment gets its final name when it is complete. The engine does not use the playlists. `-fs` has no effect on HLS
 * (measured). The number of frames, the bit rate limits and the checks of each segment bound the size of the output.
 */
function hlsOptions(plan: EncodePlan): string[] {
  const streams = [
    ...plan.rungs.map(({ name }, at) => `v:${at},agroup:audio,name:${name}`),
    ...plan.audio.map(({ name }, at) => `a:${at},agroup:audio,name:${name}`),
  ];
  return [
    ...['-output_ts_offset', String(TIMESTAMP_OFFSET_SECONDS)],
    ...['-f', 'hls', '-hls_time', String(plan.segmentSeconds), '-hls_list_size', '0'],
    ...['-hls_playlist_type', 'vod', '-hls_flags', 'temp_file'],
    ...PACKAGER.hlsOptions,
    ...['-var_stream_map', streams.join(' ')],
    ...['-hls_segment_filename', `${OUTPUT_FOLDER}/${segmentFile('%v', '%d')}`],
  ];
}
