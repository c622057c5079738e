import { AUDIO_RENDITION } from '@framelane/contracts/renditions';
import { AUDIO_SAMPLE_RATE, type EncodePlan } from './encode-plan.ts';
import { toFraction, toNumber } from './frame-rate.ts';
import { DECODE_OPTIONS, OUTPUT_FOLDER, SOURCE_INPUT } from './input-limits.ts';
import type { Rung } from './ladder.ts';
import type { FfmpegCommandLine } from './run-ffmpeg.ts';
import type { TranscodeSettings } from './transcode-settings.ts';

/** Seconds between key frames, and in a segment (Apple HLS authoring 1.10 and 7.5). */
const KEY_FRAME_SECONDS = 2;
export const SEGMENT_SECONDS = 6;

/**
 * Added to all timestamps, so that none is negative and nothing else shifts them: the first decoding timestamps of
 * video with B-frames and the first of AAC lie before zero, by different amounts.
 */
const TIMESTAMP_OFFSET_SECONDS = 10;

const AUDIO_BIT_RATE = '128k';
const CONSTANT_RATE_FACTOR = '23';

/**
 * The one ffmpeg run that makes all renditions of a video: decodes once, scales each rung from the one above it,
 * encodes audio once, and cuts all of them at the same times.
 */
export function ffmpegArguments(
  plan: EncodePlan,
  settings: Pick<TranscodeSettings, 'preset' | 'threads' | 'limits'>,
): FfmpegCommandLine {
  const threads = String(settings.threads);
  return {
    inputOptions: ['-nostdin', '-hide_banner', '-v', 'error', '-threads', threads, ...DECODE_OPTIONS],
    input: SOURCE_INPUT,
    outputOptions: [
      ...['-filter_complex_threads', threads, '-filter_complex', filterGraph(plan)],
      ...plan.rungs.flatMap(({ name }) => ['-map', `[${name}]`]),
      ...(plan.audio ? ['-map', `[${AUDIO_RENDITION}]`] : []),
      ...['-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1'],
      ...videoOptions(plan, settings),
      ...(plan.audio ? ['-c:a', 'aac', '-b:a', AUDIO_BIT_RATE] : []),
      ...['-t', String(settings.limits.maxDurationSeconds)],
      ...hlsOptions(plan),
    ],
    output: `${OUTPUT_FOLDER}/%v.m3u8`,
  };
}

function filterGraph(plan: EncodePlan): string {
  const chains = cascade(plan);
  if (plan.audio) {
    // Gaps are filled, a late start and an early end padded with silence, and a late end cut.
    const steps = [
      `aresample=${AUDIO_SAMPLE_RATE}:async=1:first_pts=0`,
      'aformat=channel_layouts=stereo',
      'apad',
      `atrim=end_sample=${plan.audio.samples}`,
    ];
    chains.push(`[0:${plan.audio.index}]${steps.join(',')}[${AUDIO_RENDITION}]`);
  }
  return chains.join(';');
}

/** One chain a rung, from the top: a copy goes to its encoder, and one to the scaler of the next rung. */
function cascade(plan: EncodePlan): string[] {
  const downwards = plan.rungs.toReversed();
  return downwards.map((rung, at) => {
    const steps =
      at === 0
        ? `[0:${plan.videoIndex}]${topChain(rung, plan)}`
        : `[to-${rung.name}]scale=${rung.width}:${rung.height},setsar=1`;
    const next = downwards[at + 1];
    return next ? `${steps},split[${rung.name}][to-${next.name}]` : `${steps}[${rung.name}]`;
  });
}

/** From the decoder to the top rung: progressive, constant rate, exact length, BT.709, 8-bit 4:2:0. */
function topChain(top: Rung, plan: EncodePlan): string {
  return [
    ...(plan.deinterlace ? ['bwdif=mode=send_frame:deint=interlaced'] : []),
    `fps=${toFraction(plan.frameRate)}:start_time=0`,
    'tpad=stop_mode=clone:stop=-1',
    `trim=end_frame=${plan.frames}`,
    ...(plan.dynamicRange === 'sdr' ? standardRange(top, plan) : toneMapped(top, plan)),
    'setsar=1',
    'setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709',
  ].join(',');
}

function standardRange({ width, height }: Rung, { assumedMatrix }: EncodePlan): string[] {
  const from = assumedMatrix === null ? '' : `:in_color_matrix=${assumedMatrix}`;
  return [`scale=${width}:${height}${from}:out_color_matrix=bt709:out_range=tv`, 'format=yuv420p'];
}

/** Tone mapping works on linear light in floats, so the picture is made small first. */
function toneMapped({ width, height }: Rung, { dynamicRange }: EncodePlan): string[] {
  const transfer = dynamicRange === 'pq' ? 'smpte2084' : 'arib-std-b67';
  return [
    `scale=${width}:${height}`,
    `zscale=transferin=${transfer}:primariesin=bt2020:matrixin=bt2020nc:transfer=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}

/** The same encoder settings on every rung but for its cap, so that all cut and reorder at the same frames. */
function videoOptions(plan: EncodePlan, { preset, threads }: { preset: string; threads: number }): string[] {
  const longestGop = Math.ceil(KEY_FRAME_SECONDS * toNumber(plan.frameRate)) + 1;
  return [
    ...['-c:v', 'libx264', '-preset', preset, '-profile:v', 'high', '-crf', CONSTANT_RATE_FACTOR],
    ...plan.rungs.flatMap(({ maxRate }, at) => [
      ...[`-maxrate:v:${at}`, String(maxRate), `-bufsize:v:${at}`, String(2 * maxRate)],
    ]),
    // By time, not by count of frames: at 29.97 a count drifts away from the segments.
    ...['-force_key_frames', `expr:gte(t,n_forced*${KEY_FRAME_SECONDS})`, '-forced-idr', '1'],
    ...['-g', String(longestGop), '-sc_threshold', '0', '-flags:v', '+cgop', '-threads:v', String(threads)],
  ];
}

/**
 * Playlists are written once, at the end; a segment takes its final name when it is complete. `-fs` would do nothing
 * here (measured): the size of the whole is bounded by the number of frames, the caps and the watch on segments.
 */
function hlsOptions(plan: EncodePlan): string[] {
  const streams = plan.rungs.map(({ name }, at) => `v:${at},agroup:audio,name:${name}`);
  if (plan.audio) streams.push(`a:0,agroup:audio,name:${AUDIO_RENDITION}`);
  return [
    ...['-output_ts_offset', String(TIMESTAMP_OFFSET_SECONDS)],
    ...['-f', 'hls', '-hls_time', String(SEGMENT_SECONDS), '-hls_list_size', '0'],
    ...['-hls_playlist_type', 'vod', '-hls_flags', 'temp_file'],
    ...['-var_stream_map', streams.join(' ')],
    ...['-hls_segment_filename', `${OUTPUT_FOLDER}/%v-%d.ts`],
  ];
}
