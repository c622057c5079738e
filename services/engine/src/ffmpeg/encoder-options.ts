import type { Piece } from '@framelane/contracts/outputs/piece-task';
import type { AudioPlan, EncodePlan, VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { AUDIO_ENCODER, encoderOf, PLAIN_ENCODER } from '../encoders/encoders.ts';
import {
  KEY_FRAME_SECONDS,
  keyFrameInterval,
  largestFrameStep,
  MAX_LISTED_KEY_FRAMES,
} from '../plan/key-frames.ts';
import { rungTraits } from '../plan/ladder.ts';
import { BUFFER_SECONDS } from '../plan/stream-copy.ts';
import { toFraction, toNumber } from '../source/frame-rate.ts';
import { MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import { deviceEncoder, type HardwareRun } from './hardware-run.ts';

/** How a run encodes video: the preset and the number of threads of each encoder, and the device if it uses one. */
type EncoderSettings = { preset: string; threads: number; device?: HardwareRun | undefined };

/** What the options of encoders depend on. */
type EncodedVideo = Pick<
  EncodePlan,
  | 'colour'
  | 'copiedAlternative'
  | 'copiesVideo'
  | 'firstFrame'
  | 'frameRate'
  | 'keyFrames'
  | 'videoRenditions'
>;

/** Encoder options of a video rendition of the whole video. */
export function videoOptions(
  rendition: VideoRenditionPlan,
  plan: EncodePlan,
  settings: EncoderSettings,
): string[] {
  return optionsOf(rendition, { plan, settings, keyFrames: keyFrameRule(rendition, plan) });
}

/** Encoder options of a video rendition of a piece. */
export function pieceEncoderOptions(
  rendition: VideoRenditionPlan,
  {
    plan,
    piece,
    settings,
  }: { plan: EncodedVideo; piece: Pick<Piece, 'keyFrames'>; settings: EncoderSettings },
): string[] {
  // Only a piece that is the whole video can have so many. They are regular, or the segments will not be as planned.
  const isLong = piece.keyFrames.length > MAX_LISTED_KEY_FRAMES;
  const keyFrames = isLong ? keyFrameRule(rendition, plan) : timesOf(piece.keyFrames, plan);
  return optionsOf(rendition, { plan, settings, keyFrames });
}

/**
 * Times of frames as ffmpeg reads them, rounded down to microseconds: from version 6 on, ffmpeg forces the first frame that is not before a
 * time. Earlier versions force the nearest frame.
 */
function timesOf(frames: readonly number[], { frameRate }: Pick<EncodePlan, 'frameRate'>): string {
  const { numerator, denominator } = frameRate;
  const microseconds = (frame: number) => Math.floor((1_000_000 * frame * denominator) / numerator);
  return frames.map((frame) => (microseconds(frame) / 1_000_000).toFixed(6)).join(',');
}

/** They give all renditions their key frames, and so their segment boundaries, at the same times. */
function optionsOf(
  rendition: VideoRenditionPlan,
  options: { plan: EncodedVideo; settings: EncoderSettings; keyFrames: string },
): string[] {
  const { plan, settings, keyFrames } = options;
  const { preset, threads, device } = settings;
  // With a stream copy, this has an effect only if the source has fewer key frames than its packets declare.
  const longest = plan.copiesVideo || plan.keyFrames ? MAX_GOP_SECONDS : KEY_FRAME_SECONDS;
  const { name, width, height, maxRate, frameStep } = rendition;
  const framesPerSecond = toNumber(plan.frameRate) / frameStep;
  const bufferSize = BUFFER_SECONDS * maxRate;
  const demands = {
    width,
    height,
    framesPerSecond,
    maxRate,
    bufferSize,
    preset,
    isSmall: rungTraits(rendition).isSmall,
  };
  const onDevice = deviceEncoder(name, device);
  const encoder = onDevice ?? encoderOf(name);
  const values = [
    ['-c', encoder.program],
    ...encoder.options(demands),
    ...(onDevice ? ([['-bsf', PLAIN_ENCODER.copyFilters(plan.colour)]] as const) : []),
    ['-maxrate', String(maxRate)],
    ['-bufsize', String(bufferSize)],
    ['-force_key_frames', keyFrames],
    ['-g', String(Math.ceil(longest * framesPerSecond) + 1)],
    ['-threads', String(threads)],
    ...frameRateOf(rendition, plan),
  ] as const;
  return values.flatMap(([option, value]) => [`${option}:v`, value]);
}

/** The frame rate, if filters subtract the first frame of the plan: from version 7 on, ffmpeg forgets the rate of frames whose times are changed. */
function frameRateOf(
  { frameStep }: VideoRenditionPlan,
  { firstFrame, frameRate: { numerator, denominator } }: EncodedVideo,
): (readonly [string, string])[] {
  if (firstFrame === 0) return [];
  return [['-r', toFraction({ numerator, denominator: denominator * frameStep })]];
}

/**
 * By time: at 29.97 frames per second, key frames at a fixed number of frames would drift from the times at which segments are due. Beside a stream
 * copy in AV1 or HEVC, their number is fixed, and they do drift.
 */
function keyFrameRule(rendition: VideoRenditionPlan, plan: EncodedVideo): string {
  if (plan.keyFrames) return timesOf(plan.keyFrames, plan);
  if (plan.copiesVideo) return 'source';
  if (plan.copiedAlternative === undefined) return `expr:${keyFrameExpression(rendition, plan)}`;
  const interval = keyFrameInterval(plan.frameRate, largestFrameStep(plan));
  return `expr:not(mod(n,${interval / rendition.frameStep}))`;
}

/**
 * When to force key frames. If some renditions have half the frame rate, key frames are forced only at frames that all renditions
 * have. The tolerance covers rounding differences between equal times.
 */
function keyFrameExpression(
  { frameStep }: VideoRenditionPlan,
  { videoRenditions }: Pick<EncodePlan, 'videoRenditions'>,
): string {
  const step = largestFrameStep({ videoRenditions }) / frameStep;
  if (videoRenditions.every((rendition) => rendition.frameStep === 1))
    return `gte(t,n_forced*${KEY_FRAME_SECONDS})`;
  const isDue = `gte(t+0.000001,n_forced*${KEY_FRAME_SECONDS})`;
  return step === 1 ? isDue : `${isDue}*not(mod(n,${step}))`;
}

/** Options of the stream copy of the video as a rendition. */
export function videoCopyOptions(
  { name }: Pick<VideoRenditionPlan, 'name'>,
  { colour }: Pick<EncodePlan, 'colour'>,
): string[] {
  const { copyFilters, copyOptions = [] } = encoderOf(name);
  const values = [['-c', 'copy'], ['-bsf', copyFilters(colour)], ...copyOptions] as const;
  return values.flatMap(([option, value]) => [`${option}:v`, value]);
}

/** Options of an audio rendition: of its encoder, or of a stream copy. */
export function audioOptions({ method, channels }: Pick<AudioPlan, 'method' | 'channels'>): string[] {
  if (!('copiedFrames' in method)) {
    const values = [['-c', AUDIO_ENCODER.program] as const, ...AUDIO_ENCODER.options(channels)];
    return values.flatMap(([option, value]) => [`${option}:a`, value]);
  }
  // The `noise` bitstream filter can drop packets: here those after the end of the video.
  return ['-c:a', 'copy', '-bsf:a', String.raw`noise=drop=gte(n\,${method.copiedFrames})`];
}
