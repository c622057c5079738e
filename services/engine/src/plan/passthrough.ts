import { AAC_FRAME_SAMPLES, type AudioFrames } from '../source/audio-scan.ts';
import { containerTraits } from '../source/containers.ts';
import { type FrameRate, toNumber } from '../source/frame-rate.ts';
import { type Gop, type GopFlaw, MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import type { AudioTrack, VideoTrack } from '../source/media-source.ts';
import type { Rung } from './ladder.ts';

/** Why a track has to be encoded although it could be delivered as it is, had this been otherwise. */
export type Obstacle =
  | 'container'
  | 'codec'
  | 'profile'
  | 'level'
  | 'pixel_format'
  | 'colour'
  | 'interlaced'
  | 'shape'
  | 'size'
  | 'frame_rate'
  | 'truncated'
  | 'length'
  | 'bit_rate'
  | 'segments'
  | 'channels'
  | 'sample_rate'
  | 'gaps'
  | 'start'
  | GopFlaw;

/** A verdict on a track: what is made of it, or why it has to be encoded. */
export type Verdict<T> = { passthrough: T; obstacle: null } | { passthrough: null; obstacle: Obstacle };

/** Decoders of every phone take these; the plain Baseline profile has tools that they do not. */
const PROFILES = ['Constrained Baseline', 'Main', 'High'];
/** 4.2, ten times as H.264 writes it. */
const HIGHEST_LEVEL = 42;
/** Matrices that rungs of standard range may have; untagged video follows the standard of its size. */
const MATRICES = [null, 'bt709', 'smpte170m', 'bt470bg'];
/** Primaries and transfer functions of standard range that players and zimg take. */
const PRIMARIES = MATRICES;
const TRANSFERS = [null, 'bt709', 'smpte170m', 'bt470bg', 'bt470m', 'iec61966-2-1'];

/** Distances of segment boundaries to be tried, in seconds. */
const SEGMENT_SECONDS = [6, 5, 4];
/** A cap holds over this many seconds, as it does for what is encoded (see `-bufsize`). */
export const BUFFER_SECONDS = 2;

const HIGHEST_AUDIO_RATE = 160_000;
const SAMPLE_RATES = [44_100, 48_000];
/** A frame, and what containers round times to. */
const EXACT_ENOUGH = 1.01;
/** Sound and picture this far apart are one to the ear. */
const IN_STEP_SECONDS = 0.01;

type VideoFacts = {
  container: string;
  video: VideoTrack;
  /** What its packets are, or why they were not looked at to the end. */
  gops: readonly Gop[] | GopFlaw;
  /** What the top rung would be encoded to. */
  top: Rung;
  /** How many frames of it are one frame of a rung below, at most. */
  frameStep: number;
  frameRate: FrameRate;
  /** Seconds delivered. */
  duration: number;
};

/** In this order the first that holds is the obstacle. */
const VIDEO_OBSTACLES: readonly (readonly [Obstacle, (facts: VideoFacts) => boolean])[] = [
  ['container', ({ container }) => !containerTraits(container).allowsPassthrough],
  ['codec', ({ video }) => video.codec !== 'h264'],
  ['profile', ({ video }) => !PROFILES.includes(video.profile)],
  ['level', ({ video }) => !(video.level > 0 && video.level <= HIGHEST_LEVEL)],
  ['pixel_format', ({ video }) => video.pixelFormat !== 'yuv420p' || video.fullRange],
  ['colour', ({ video }) => !hasUsualColours(video)],
  ['interlaced', ({ video }) => video.interlaced],
  ['shape', ({ video }) => video.turn.length > 0 || !video.squarePixels],
  ['size', ({ video: { coded }, top }) => coded.width !== top.width || coded.height !== top.height],
  ['frame_rate', ({ video, frameRate }) => !isSameRate(video.declaredRate, frameRate)],
];

/**
 * Whether the source's own video can be the top rung, byte for byte, and about how many seconds apart it is cut then.
 * All rungs are cut at its key frames.
 */
export function checkVideoPassthrough(facts: VideoFacts): Verdict<{ segmentSeconds: number }> {
  const found = VIDEO_OBSTACLES.find(([, holds]) => holds(facts));
  if (found) return refused(found[0]);
  const { gops, top, duration, frameStep } = facts;
  if (typeof gops === 'string') return refused(gops);
  const end = gops.reduce((sum, gop) => sum + gop.duration, 0);
  const frameSeconds = 1 / toNumber(facts.frameRate);
  // The last packet of a file that was cut off may be half of one.
  if ((facts.video.declaredDuration ?? 0) > end + frameSeconds) return refused('truncated');
  if (Math.abs(end - duration) > frameSeconds / 2) return refused('length');
  if (!staysUnder(top.maxRate, gops)) return refused('bit_rate');
  const segmentSeconds = SEGMENT_SECONDS.find((seconds) => {
    const starts = segmentStarts(gops, seconds);
    return longestSegment(starts, end) < MAX_GOP_SECONDS && isShared(starts, frameSeconds, frameStep);
  });
  return segmentSeconds === undefined
    ? refused('segments')
    : { passthrough: { segmentSeconds }, obstacle: null };
}

type AudioFacts = {
  container: string;
  audio: AudioTrack;
  /** Null when they have gaps, or were not looked at. */
  frames: AudioFrames | null;
  /** Seconds by which the picture comes earlier than in the file (see EncodePlan); what is kept cannot be moved. */
  lead: number;
  /** Seconds of picture. */
  duration: number;
};

/**
 * Whether the source's own sound can be delivered, byte for byte: how many of its frames, and the second at which they
 * end. Sound must begin and end with the picture, to a frame (HLS authoring specification 8.7).
 */
export function checkAudioPassthrough(facts: AudioFacts): Verdict<{ frames: number; end: number }> {
  const { container, audio, frames, lead, duration } = facts;
  if (!containerTraits(container).allowsPassthrough) return refused('container');
  const obstacle = audioObstacle(audio);
  if (obstacle) return refused(obstacle);
  if (!frames) return refused('gaps');
  const frameSeconds = AAC_FRAME_SAMPLES / audio.sampleRate;
  if (Math.abs(lead) > IN_STEP_SECONDS || Math.abs(frames.start) > frameSeconds * EXACT_ENOUGH) {
    return refused('start');
  }
  // The last one begins before the picture ends, and so early that it is no segment of its own.
  const wanted = Math.ceil((duration - Math.max(0, frames.start)) / frameSeconds);
  const passed = Math.min(wanted, frames.frames);
  const end = frames.start + passed * frameSeconds;
  if (end < duration - frameSeconds * EXACT_ENOUGH) return refused('length');
  if ((frames.bytes * 8) / (frames.frames * frameSeconds) > HIGHEST_AUDIO_RATE) return refused('bit_rate');
  return { passthrough: { frames: passed, end }, obstacle: null };
}

/** What speaks against delivering a track of sound as it is before its packets have been looked at; null if nothing. */
export function audioObstacle({ codec, profile, channels, sampleRate }: AudioTrack): Obstacle | null {
  if (codec !== 'aac') return 'codec';
  if (profile !== 'LC') return 'profile';
  if (channels !== 2) return 'channels';
  return SAMPLE_RATES.includes(sampleRate) ? null : 'sample_rate';
}

function refused(obstacle: Obstacle): { passthrough: null; obstacle: Obstacle } {
  return { passthrough: null, obstacle };
}

function hasUsualColours({ dynamicRange, colorMatrix, colorPrimaries, colorTransfer }: VideoTrack): boolean {
  return (
    dynamicRange === 'sdr' &&
    MATRICES.includes(colorMatrix) &&
    PRIMARIES.includes(colorPrimaries) &&
    TRANSFERS.includes(colorTransfer)
  );
}

function isSameRate(a: FrameRate | null, b: FrameRate): boolean {
  return a !== null && a.numerator * b.denominator === b.numerator * a.denominator;
}

/** Whether it is below the cap on average, and a buffer of two seconds that drains at the cap never runs over. */
function staysUnder(bitsPerSecond: number, gops: readonly Gop[]): boolean {
  const excess = gops.reduce((sum, { bytes, duration }) => sum + bytes * 8 - bitsPerSecond * duration, 0);
  if (excess > 0) return false;
  let waiting = 0;
  for (const { bytes, duration } of gops) {
    waiting = Math.max(0, waiting + bytes * 8 - bitsPerSecond * duration);
    if (waiting > bitsPerSecond * BUFFER_SECONDS) return false;
  }
  return true;
}

/** Seconds at which segments begin when each ends at the first key frame at or after the next multiple of `seconds`. */
function segmentStarts(gops: readonly Gop[], seconds: number): number[] {
  const starts = [0];
  for (const { start } of gops) {
    if (start > (starts.at(-1) ?? 0) && start >= starts.length * seconds) starts.push(start);
  }
  return starts;
}

function longestSegment(starts: readonly number[], end: number): number {
  return Math.max(...starts.map((start, at) => (starts[at + 1] ?? end) - start));
}

/** Whether all segments begin with a frame that rungs of a lower frame rate have, too. */
function isShared(starts: readonly number[], frameSeconds: number, frameStep: number): boolean {
  return starts.every((start) => Math.round(start / frameSeconds) % frameStep === 0);
}
