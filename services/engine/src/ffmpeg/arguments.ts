import { AUDIO_RENDITION } from '@framelane/contracts/renditions';
import { hasOtherPrimaries, yuvMatrix } from '../plan/colour.ts';
import { AUDIO_SAMPLE_RATE, type EncodePlan } from '../plan/encode-plan.ts';
import { h264Level } from '../plan/h264-level.ts';
import type { Rung } from '../plan/ladder.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { DECODE_OPTIONS } from '../sandbox/whitelist.ts';
import { toFraction, toNumber } from '../source/frame-rate.ts';
import { MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import type { Size } from '../source/media-source.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { FfmpegCommandLine } from './run-ffmpeg.ts';

/** Seconds between key frames where the source does not set them (HLS authoring specification 1.10). */
const KEY_FRAME_SECONDS = 2;

/**
 * Added to all timestamps, so that none is negative and nothing else shifts them: the first decoding timestamps of
 * video with B-frames and the first of AAC lie before zero, by different amounts.
 */
const TIMESTAMP_OFFSET_SECONDS = 10;

/** The pictures made beside the rungs, and the labels of their chains. */
export const IMAGES = ['poster', 'storyboard'] as const;
/** Seconds between the frames tried for the still picture. */
const CANDIDATE_SECONDS = 0.5;
/** Average of luma, of which black is 16 and white 235. */
const NEARLY_BLACK = 24;

const WITHOUT_METADATA = ['-map_metadata', '-1', '-map_chapters', '-1'];

/**
 * Each thread of a decoder or an encoder holds frames. Memory must depend on the size of the picture and not on the number of cores,
 * so threads are limited, and those of the decoder together hold no more pixels than this.
 */
const MAX_THREADS = 16;
const MAX_DECODER_PIXELS = MAX_THREADS * 3840 * 2160;

const AUDIO_BIT_RATE = '128k';
const CONSTANT_RATE_FACTOR = '23';
/** Reference frames of the presets that may use more than the level of a rung allows. */
const REFERENCES: Readonly<Record<string, number>> = { slow: 5, slower: 8, veryslow: 16 };

/**
 * The one ffmpeg run that makes all renditions of a video: decodes once, scales each rung from the one above it,
 * encodes audio once, and cuts all of them at the same times. What is kept of the source passes by undecoded.
 */
export function ffmpegArguments(
  plan: EncodePlan,
  settings: Pick<TranscodeSettings, 'preset' | 'threads' | 'limits'>,
): FfmpegCommandLine {
  const threads = Math.min(settings.threads, MAX_THREADS);
  return {
    inputOptions: [
      '-nostdin',
      '-hide_banner',
      '-v',
      'error',
      '-threads',
      String(decoderThreads(plan, threads)),
      ...WITH_LASTING_FILTERS,
      ...DECODE_OPTIONS,
      ...(plan.audio?.decodeToStereo ? [`-downmix:${plan.audio.index}`, 'stereo'] : []),
    ],
    input: SOURCE_INPUT,
    // The one whose progress is told comes first.
    outputs: [
      { options: streamOptions(plan, { ...settings, threads }), path: `${OUTPUT_FOLDER}/%v.m3u8` },
      ...images(),
    ],
  };
}

function decoderThreads({ coded }: EncodePlan, threads: number): number {
  return Math.max(1, Math.min(threads, Math.floor(MAX_DECODER_PIXELS / (coded.width * coded.height))));
}

function streamOptions(
  plan: EncodePlan,
  settings: Pick<TranscodeSettings, 'preset' | 'threads' | 'limits'>,
): string[] {
  const chains = [...cascade(plan), ...imageChains(plan), ...audioChain(plan)];
  return [
    ...['-filter_complex_threads', String(settings.threads), '-filter_complex', chains.join(';')],
    ...encodedRungs(plan).flatMap(({ name }) => ['-map', `[${name}]`]),
    ...(plan.videoPassthrough ? ['-map', `0:${plan.videoIndex}`] : []),
    ...audioMap(plan),
    ...['-sn', '-dn', ...WITHOUT_METADATA],
    ...encodedRungs(plan).flatMap((rung, at) => encoderOptions(rung, at, plan, settings)),
    ...(plan.videoPassthrough ? keptVideoOptions(encodedRungs(plan).length, plan) : []),
    ...audioOptions(plan),
    ...['-t', String(settings.limits.maxDurationSeconds)],
    ...hlsOptions(plan),
  ];
}

/** The pictures, each by the label of its chain. At a picture a second none is repeated to fill a gap. */
function images(): FfmpegCommandLine['outputs'] {
  return IMAGES.map((name) => ({
    options: [
      ...['-map', `[${name}]`, ...WITHOUT_METADATA, '-r', '1', '-c:v', 'mjpeg', '-q:v', '4'],
      ...['-f', 'image2', '-update', '1'],
    ],
    path: `${OUTPUT_FOLDER}/${name}.jpg`,
  }));
}

/** The rungs that x264 makes, lowest first. */
function encodedRungs({ rungs, videoPassthrough }: EncodePlan): readonly Rung[] {
  return videoPassthrough ? rungs.slice(0, -1) : rungs;
}

/**
 * One chain a rung, from the top: a copy goes to its encoder, one to the scaler of the next rung, and from two of them
 * one to the pictures. Where no rung is encoded, the source is decoded for the pictures alone.
 */
function cascade(plan: EncodePlan): string[] {
  const downwards = encodedRungs(plan).toReversed();
  const from = imageRungs(plan);
  if (downwards.length === 0) {
    const rungs = plan.rungs.slice(-1);
    return rungs.map(
      (rung) => `[0:${plan.videoIndex}]${topChain(rung, plan)},${fork(['to-poster', 'to-storyboard'])}`,
    );
  }
  return downwards.map((rung, at) => {
    const steps =
      at === 0
        ? `[0:${plan.videoIndex}]${topChain(rung, plan)}`
        : `[to-${rung.name}]${[...thinned(rung, downwards[at - 1]), resized(rung)].join(',')},setsar=1`;
    const next = downwards[at + 1];
    const copies = [
      rung.name,
      ...(next ? [`to-${next.name}`] : []),
      ...(rung === from.poster ? ['to-poster'] : []),
      ...(rung === from.storyboard ? ['to-storyboard'] : []),
    ];
    return `${steps},${fork(copies)}`;
  });
}

function fork(labels: readonly string[]): string {
  const outputs = labels.map((label) => `[${label}]`).join('');
  return labels.length > 1 ? `split=${labels.length}${outputs}` : `null${outputs}`;
}

/** The rungs that pictures are made of: a still of 720 lines at most, and small ones of the smallest. */
function imageRungs(plan: EncodePlan): { poster: Rung | undefined; storyboard: Rung | undefined } {
  const rungs = encodedRungs(plan);
  const small = rungs.filter(({ name }) => name !== '1080p');
  return { poster: small.at(-1) ?? rungs[0], storyboard: rungs[0] };
}

/**
 * Each picture is overwritten by a better one: the still by the first frame after a tenth of the video, and that by the
 * first one that is not nearly black; the storyboard's first part by all of it. Something comes of either at once, for
 * ffmpeg tells no progress before all of its outputs have begun.
 */
function imageChains({ images: { posterFrom, storyboard } }: EncodePlan): string[] {
  const { tile, columns, rows, tiles, interval } = storyboard;
  const from = posterFrom.toFixed(3);
  const measured = 'lavfi.signalstats.YAVG';
  const layout = `tile=${columns}x${rows}`;
  return [
    '[to-poster]split=2[opening][later]',
    '[opening]trim=end_frame=1[first]',
    `[later]trim=start=${from},split=2[tenth][candidates]`,
    '[tenth]trim=end_frame=1[second]',
    [
      `[candidates]select=gte(t-${from}\\,selected_n*${CANDIDATE_SECONDS}),signalstats`,
      `metadata=mode=select:key=${measured}:value=${NEARLY_BLACK}:function=greater`,
      'trim=end_frame=1[bright]',
    ].join(','),
    '[first][second][bright]concat=n=3,setpts=N/TB[poster]',
    [
      `[to-storyboard]select=gte(t\\,selected_n*${interval}),scale=${tile.width}:${tile.height},setsar=1`,
      'split=2[tile][tiles]',
    ].join(','),
    `[tile]trim=end_frame=1,${layout}:nb_frames=1[begun]`,
    `[tiles]${layout}:nb_frames=${tiles}[whole]`,
    '[begun][whole]concat=n=2,setpts=N/TB[storyboard]',
  ];
}

/**
 * The sum of several channels may be above full scale. Weights that rule that out make all sound a third as loud; this takes back
 * the peaks alone, and leaves the encoder some room.
 */
const LIMITER = 'alimiter=limit=0.9:level=disabled:latency=1';

function audioChain({ audio, lead }: EncodePlan): string[] {
  if (!audio || 'passthroughFrames' in audio.make) return [];
  // Gaps are filled, a late start and an early end padded with silence, and a late end cut.
  const steps = [
    ...(lead === 0 ? [] : [`asetpts=PTS-(${lead})/TB`]),
    `aresample=${AUDIO_SAMPLE_RATE}:async=1:first_pts=0`,
    'aformat=channel_layouts=stereo',
    ...(audio.downmix ? [LIMITER] : []),
    'apad',
    `atrim=end_sample=${audio.make.samples}`,
  ];
  return [`[0:${audio.index}]${steps.join(',')}[${AUDIO_RENDITION}]`];
}

function audioMap({ audio }: EncodePlan): string[] {
  if (!audio) return [];
  return ['-map', 'passthroughFrames' in audio.make ? `0:${audio.index}` : `[${AUDIO_RENDITION}]`];
}

function audioOptions({ audio }: EncodePlan): string[] {
  if (!audio) return [];
  if (!('passthroughFrames' in audio.make)) return ['-c:a', 'aac', '-b:a', AUDIO_BIT_RATE];
  // Named for another use: it drops packets, here those after the picture.
  return ['-c:a', 'copy', '-bsf:a', String.raw`noise=drop=gte(n\,${audio.make.passthroughFrames})`];
}

/**
 * A picture may change its size in the middle. ffmpeg would build the filters anew, which then count frames and time from
 * the beginning again; so they are told to stay, and to be ready: the first brings all pictures to one size.
 */
const WITH_LASTING_FILTERS = ['-reinit_filter', '0', '-noautorotate'];

/** From the decoder to the top rung: one size, progressive, upright, constant rate, exact length, one colour, 8-bit 4:2:0. */
function topChain(top: Rung, plan: EncodePlan): string {
  const { matrix, primaries, transfer } = plan.colour;
  return [
    `scale=${plan.coded.width}:${plan.coded.height}:interl=-1`,
    ...(plan.deinterlace ? [`bwdif=mode=${plan.deinterlace}:deint=interlaced`] : []),
    // Containers of single fields end with the first field of the last picture; without a frame after it the second is lost.
    ...(plan.deinterlace === 'send_field' ? ['tpad=stop_mode=clone:stop=1'] : []),
    ...plan.turn,
    ...(plan.lead === 0 ? [] : [`setpts=PTS-(${plan.lead})/TB`]),
    `fps=${toFraction(plan.frameRate)}:start_time=0`,
    'tpad=stop_mode=clone:stop=-1',
    `trim=end_frame=${plan.frames}`,
    ...thinned(top),
    ...(plan.dynamicRange === 'sdr' ? standardRange(top, plan) : toneMapped(top, plan)),
    'setsar=1',
    `setparams=range=tv:colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}`,
  ].join(',');
}

/** Leaves every second frame out for a rung that has half the frame rate of what it is made of. */
function thinned({ frameStep }: Rung, from?: Rung): string[] {
  const step = frameStep / (from?.frameStep ?? 1);
  return step === 1 ? [] : [`framestep=${step}`];
}

/** zimg scales 8-bit 4:2:0 in a quarter of the time that swscale takes (measured), which takes anything. */
function resized({ width, height }: Size): string {
  return `zscale=${width}:${height}:filter=bicubic,format=yuv420p`;
}

function standardRange(top: Rung, plan: EncodePlan): string[] {
  const { pixelsCompatible, coded, assumedMatrix } = plan;
  const { width, height } = top;
  if (pixelsCompatible) {
    // What is said of the format also keeps JPEG's own, for the pictures, away from the rungs.
    return [coded.width === width && coded.height === height ? 'format=yuv420p' : resized(top)];
  }
  if (hasOtherPrimaries(plan.tagged)) return fromOtherPrimaries(top, plan);
  const from = assumedMatrix === null ? '' : `:in_color_matrix=${assumedMatrix}`;
  return [`scale=${width}:${height}${from}:out_color_matrix=bt709:out_range=tv`, 'format=yuv420p'];
}

/** Colours are converted in linear light, so the picture is made small first. Curves of standard range count as BT.709's. */
function fromOtherPrimaries({ width, height }: Rung, { tagged, assumedMatrix }: EncodePlan): string[] {
  const matrix = yuvMatrix(tagged) ?? (assumedMatrix === 'bt601' ? 'smpte170m' : 'bt709');
  const asYuv = tagged.colorMatrix === 'gbr' ? [`out_color_matrix=${matrix},format=yuv444p10le`] : [];
  return [
    [`scale=${width}:${height}:out_range=tv`, ...asYuv].join(':'),
    `zscale=primariesin=${tagged.colorPrimaries}:transferin=bt709:matrixin=${matrix}:rangein=tv` +
      ':primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}

/** Tone mapping works on linear light in floats, so the picture is made small first. */
function toneMapped({ width, height }: Rung, { dynamicRange, tagged }: EncodePlan): string[] {
  const transfer = dynamicRange === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const primaries = hasOtherPrimaries(tagged) ? tagged.colorPrimaries : 'bt2020';
  const matrix = yuvMatrix(tagged) ?? 'bt2020nc';
  return [
    `scale=${width}:${height}`,
    `zscale=transferin=${transfer}:primariesin=${primaries}:matrixin=${matrix}:transfer=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}

/**
 * Encoder settings of video output `at`: the same on every rung but for its cap, so that all cut and reorder at the same
 * frames.
 */
function encoderOptions(
  rung: Rung,
  at: number,
  plan: EncodePlan,
  { preset, threads }: { preset: string; threads: number },
): string[] {
  // By time, not by count of frames: at 29.97 a count drifts away from the segments.
  const keyFrames = plan.videoPassthrough ? 'source' : `expr:${keyFrameExpression(rung, plan)}`;
  // Of no effect but for a source whose key frames are not where its packets say.
  const longest = plan.videoPassthrough ? MAX_GOP_SECONDS : KEY_FRAME_SECONDS;
  const { width, height, maxRate, frameStep } = rung;
  const framesPerSecond = toNumber(plan.frameRate) / frameStep;
  const { level, maxFrames } = h264Level({
    width,
    height,
    framesPerSecond,
    maxRate,
    bufferSize: 2 * maxRate,
  });
  const wanted = REFERENCES[preset];
  const options: [string, string][] = [
    ['-c', 'libx264'],
    ['-preset', preset],
    ['-profile', 'high'],
    ['-level', (level / 10).toFixed(1)],
    ...(wanted === undefined ? [] : [['-refs', String(Math.min(wanted, maxFrames))] as [string, string]]),
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-maxrate', String(maxRate)],
    ['-bufsize', String(2 * maxRate)],
    ['-force_key_frames', keyFrames],
    ['-forced-idr', '1'],
    ['-g', String(Math.ceil(longest * framesPerSecond) + 1)],
    ['-sc_threshold', '0'],
    ['-a53cc', '0'],
    ['-flags', '+cgop'],
    ['-threads', String(threads)],
  ];
  return options.flatMap(([name, value]) => [`${name}:v:${at}`, value]);
}

/**
 * When key frames are forced. Where some rungs have every second frame only, all rungs have their key frames at the frames
 * that are in all of them; the tolerance is for times that are the same but for rounding.
 */
function keyFrameExpression({ frameStep }: Rung, { rungs }: EncodePlan): string {
  const step = Math.max(...rungs.map((rung) => rung.frameStep)) / frameStep;
  if (rungs.every((rung) => rung.frameStep === 1)) return `gte(t,n_forced*${KEY_FRAME_SECONDS})`;
  const isDue = `gte(t+0.0001,n_forced*${KEY_FRAME_SECONDS})`;
  return step === 1 ? isDue : `${isDue}*not(mod(n,${step}))`;
}

/** Code points of what untagged colours are taken for (ISO/IEC 14496-10 tables E-3 to E-5). */
const COLOUR_CODES: Readonly<Record<string, number>> = { bt709: 1, bt470bg: 5, smpte170m: 6 };

/**
 * Supplemental information goes: it may hold anything, e.g. captions or where a drone was, and players need none of it.
 * Untagged colours are tagged as what the other rungs take them for.
 */
function keptVideoOptions(at: number, { tagged, colour }: EncodePlan): string[] {
  const missing = [
    ...(tagged.colorPrimaries === null ? [`colour_primaries=${COLOUR_CODES[colour.primaries]}`] : []),
    ...(tagged.colorTransfer === null ? [`transfer_characteristics=${COLOUR_CODES[colour.transfer]}`] : []),
    ...(tagged.colorMatrix === null ? [`matrix_coefficients=${COLOUR_CODES[colour.matrix]}`] : []),
  ];
  const filters = ['filter_units=remove_types=6'];
  if (missing.length > 0) filters.push(`h264_metadata=${missing.join(':')}`);
  return [`-c:v:${at}`, 'copy', `-bsf:v:${at}`, filters.join(',')];
}

/**
 * A segment takes its final name when it is complete; the playlists are of no use. `-fs` would do nothing
 * here (measured): the size of the whole is bounded by the number of frames, the caps and the watch on segments.
 */
function hlsOptions(plan: EncodePlan): string[] {
  const streams = plan.rungs.map(({ name }, at) => `v:${at},agroup:audio,name:${name}`);
  if (plan.audio) streams.push(`a:0,agroup:audio,name:${AUDIO_RENDITION}`);
  return [
    ...['-output_ts_offset', String(TIMESTAMP_OFFSET_SECONDS)],
    ...['-f', 'hls', '-hls_time', String(plan.segmentSeconds), '-hls_list_size', '0'],
    ...['-hls_playlist_type', 'vod', '-hls_flags', 'temp_file'],
    ...['-var_stream_map', streams.join(' ')],
    ...['-hls_segment_filename', `${OUTPUT_FOLDER}/%v-%d.ts`],
  ];
}
