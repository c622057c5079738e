import type { VideoRendition } from '@framelane/contracts/renditions';
import type { AudioPlan, EncodePlan, PieceTask, Rung } from '@framelane/contracts/transcode-plan';
import { h264Level } from '../plan/h264-level.ts';
import { KEY_FRAME_SECONDS } from '../plan/key-frames.ts';
import { BUFFER_SECONDS } from '../plan/passthrough.ts';
import { toNumber } from '../source/frame-rate.ts';
import { MAX_GOP_SECONDS } from '../source/gop-scan.ts';

/** By the number of channels. */
const AUDIO_BIT_RATES: Record<AudioPlan['channels'], string> = { 1: '64k', 2: '128k', 6: '320k' };
const CONSTANT_RATE_FACTOR = '23';
/** x264's number of reference frames, for the presets whose number may exceed what a level allows. */
const REFERENCES: Readonly<Record<string, number>> = { slow: 5, slower: 8, veryslow: 16 };

/**
 * x264 options for the small renditions, by preset. They restore analysis that the preset omits, and cost little time at these
 * sizes. The slower presets have these options or better ones, and ultrafast has no B-frames. ADR 40 has the figures.
 */
const SMALL_RENDITIONS: readonly VideoRendition[] = ['360p', '480p'];
const SMALL_RENDITION_OPTIONS: Readonly<Record<string, string>> = {
  superfast: 'b-adapt=2:bframes=4:trellis=1',
  veryfast: 'b-adapt=2:bframes=4:trellis=1:ref=2:mixed-refs=1',
  faster: 'b-adapt=2:bframes=4:mixed-refs=1',
  fast: 'b-adapt=2:bframes=4',
  medium: 'b-adapt=2:bframes=4',
  slow: 'b-adapt=2:bframes=4',
};
/** The same for a video that has only small renditions. */
const SMALL_VIDEO_OPTIONS = 'b-adapt=2';

/** How a run encodes video: the x264 preset and its number of threads. */
type EncoderSettings = { preset: string; threads: number };

/** Encoder options of a video rendition of the whole video. */
export function videoOptions(rung: Rung, plan: EncodePlan, settings: EncoderSettings): string[] {
  return x264Options(rung, { plan, settings, keyFrames: keyFrameRule(rung, plan) });
}

/** Encoder options of a video rendition of a piece. */
export function pieceEncoderOptions(
  rung: Rung,
  { plan, piece, settings }: { plan: EncodePlan; piece: PieceTask; settings: EncoderSettings },
): string[] {
  const { numerator, denominator } = plan.frameRate;
  // Rounded down to microseconds: from version 6 on, ffmpeg forces the first frame that is not before a time. Earlier versions force
  // the nearest frame.
  const microseconds = (frame: number) => Math.floor((1_000_000 * frame * denominator) / numerator);
  const keyFrames = piece.keyFrames.map((frame) => (microseconds(frame) / 1_000_000).toFixed(6)).join(',');
  return x264Options(rung, { plan, settings, keyFrames });
}

/** They give all renditions their key frames, and so their segment boundaries, at the same times. */
function x264Options(
  rung: Rung,
  options: { plan: EncodePlan; settings: EncoderSettings; keyFrames: string },
): string[] {
  const { plan, settings, keyFrames } = options;
  const { preset, threads } = settings;
  // With passthrough, this has an effect only if the source has fewer key frames than its packets declare.
  const longest = plan.videoPassthrough ? MAX_GOP_SECONDS : KEY_FRAME_SECONDS;
  const { name, width, height, maxRate, frameStep } = rung;
  const framesPerSecond = toNumber(plan.frameRate) / frameStep;
  const bufferSize = BUFFER_SECONDS * maxRate;
  const { level, maxFrames } = h264Level({ width, height, framesPerSecond, maxRate, bufferSize });
  const references = REFERENCES[preset];
  const x264Params = SMALL_RENDITIONS.includes(name) ? smallRenditionOptions(preset, plan) : undefined;
  const values: [string, string][] = [
    ['-c', 'libx264'],
    ['-preset', preset],
    ['-profile', 'high'],
    ['-level', (level / 10).toFixed(1)],
    ...(references === undefined
      ? []
      : [['-refs', String(Math.min(references, maxFrames))] as [string, string]]),
    ...(x264Params === undefined ? [] : [['-x264-params', x264Params] as [string, string]]),
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-maxrate', String(maxRate)],
    ['-bufsize', String(bufferSize)],
    ['-force_key_frames', keyFrames],
    ['-forced-idr', '1'],
    ['-g', String(Math.ceil(longest * framesPerSecond) + 1)],
    ['-sc_threshold', '0'],
    ['-a53cc', '0'],
    ['-flags', '+cgop'],
    ['-threads', String(threads)],
  ];
  return values.flatMap(([option, value]) => [`${option}:v`, value]);
}

function smallRenditionOptions(preset: string, { rungs }: EncodePlan): string | undefined {
  const options = SMALL_RENDITION_OPTIONS[preset];
  const isSmall = rungs.every((rung) => SMALL_RENDITIONS.includes(rung.name));
  return options !== undefined && isSmall ? SMALL_VIDEO_OPTIONS : options;
}

/** By time: at 29.97 frames per second, key frames at a fixed number of frames would drift from the segment boundaries. */
function keyFrameRule(rung: Rung, plan: EncodePlan): string {
  return plan.videoPassthrough ? 'source' : `expr:${keyFrameExpression(rung, plan)}`;
}

/**
 * When to force key frames. If some renditions have half the frame rate, key frames are forced only at frames that all renditions
 * have. The tolerance covers rounding differences between equal times.
 */
function keyFrameExpression({ frameStep }: Rung, { rungs }: EncodePlan): string {
  const step = Math.max(...rungs.map((rung) => rung.frameStep)) / frameStep;
  if (rungs.every((rung) => rung.frameStep === 1)) return `gte(t,n_forced*${KEY_FRAME_SECONDS})`;
  const isDue = `gte(t+0.000001,n_forced*${KEY_FRAME_SECONDS})`;
  return step === 1 ? isDue : `${isDue}*not(mod(n,${step}))`;
}

/** Code points of the colours of passthrough video (ISO/IEC 14496-10 tables E-3 to E-5). */
const COLOUR_CODES: Readonly<Record<string, number>> = {
  bt709: 1,
  bt470m: 4,
  bt470bg: 5,
  smpte170m: 6,
  'iec61966-2-1': 13,
};

/**
 * Removes supplemental enhancement information: it may contain anything, such as captions or the position of a drone, and
 * players do not need it. Writes the tags of the encoded renditions into every sequence parameter set: the source may have them in its
 * container only, have others there, or have none. A transport stream has no other place for them.
 */
export function videoPassthroughOptions({ colour }: Pick<EncodePlan, 'colour'>): string[] {
  const tags = [
    `colour_primaries=${COLOUR_CODES[colour.primaries]}`,
    `transfer_characteristics=${COLOUR_CODES[colour.transfer]}`,
    `matrix_coefficients=${COLOUR_CODES[colour.matrix]}`,
    ...['video_full_range_flag=0', 'sample_aspect_ratio=1/1'],
  ];
  const filters = ['filter_units=remove_types=6', `h264_metadata=${tags.join(':')}`];
  return ['-c:v', 'copy', '-bsf:v', filters.join(',')];
}

/** Options of an audio rendition: of its encoder, or of a stream copy. */
export function audioOptions({ method, channels }: Pick<AudioPlan, 'method' | 'channels'>): string[] {
  if (!('passthroughFrames' in method)) return ['-c:a', 'aac', '-b:a', AUDIO_BIT_RATES[channels]];
  // The `noise` bitstream filter can drop packets: here those after the end of the video.
  return ['-c:a', 'copy', '-bsf:a', String.raw`noise=drop=gte(n\,${method.passthroughFrames})`];
}
