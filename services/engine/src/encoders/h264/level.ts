import type { Size } from '../../source/media-source.ts';

/** What a stream needs from a level. */
type Demands = Size & {
  framesPerSecond: number;
  /** Bits per second. */
  maxRate: number;
  /** Bits. */
  bufferSize: number;
};

/** A level in tenths (42 is level 4.2), and the number of frames of this size that its decoders can store. */
export type H264Level = { level: number; maxFrames: number };

/** Limits of one level: macroblocks per second, per frame and of all stored frames; kilobits per second and in the buffer. */
type Limits = readonly [
  level: number,
  rate: number,
  frame: number,
  stored: number,
  bits: number,
  buffer: number,
];

/** ISO/IEC 14496-10 table A-1. */
const LEVELS: readonly Limits[] = [
  [10, 1_485, 99, 396, 64, 175],
  [11, 3_000, 396, 900, 192, 500],
  [12, 6_000, 396, 2_376, 384, 1_000],
  [13, 11_880, 396, 2_376, 768, 2_000],
  [20, 11_880, 396, 2_376, 2_000, 2_000],
  [21, 19_800, 792, 4_752, 4_000, 4_000],
  [22, 20_250, 1_620, 8_100, 4_000, 4_000],
  [30, 40_500, 1_620, 8_100, 10_000, 10_000],
  [31, 108_000, 3_600, 18_000, 14_000, 14_000],
  [32, 216_000, 5_120, 20_480, 20_000, 20_000],
  [40, 245_760, 8_192, 32_768, 20_000, 25_000],
  [41, 245_760, 8_192, 32_768, 50_000, 62_500],
  [42, 522_240, 8_704, 34_816, 50_000, 62_500],
  [50, 589_824, 22_080, 110_400, 135_000, 135_000],
  [51, 983_040, 36_864, 184_320, 240_000, 240_000],
  [52, 2_073_600, 36_864, 184_320, 240_000, 240_000],
  [60, 4_177_920, 139_264, 696_320, 240_000, 240_000],
  [61, 8_355_840, 139_264, 696_320, 480_000, 480_000],
];

const MACROBLOCK = 16;
/** High profile may use this many times the bits of the table (table A-2). */
const HIGH_PROFILE_FACTOR = 1.25;
/** Stored frames that x264 needs for B-frames as references of other B-frames. */
const MIN_STORED_FRAMES = 4;
const MAX_STORED_FRAMES = 16;

/** The lowest level of High profile that allows a stream (ISO/IEC 14496-10 annex A.3). */
export function h264Level({ width, height, framesPerSecond, maxRate, bufferSize }: Demands): H264Level {
  const columns = Math.ceil(width / MACROBLOCK);
  const rows = Math.ceil(height / MACROBLOCK);
  const blocks = columns * rows;
  const kilobits = (bits: number) => bits / (1000 * HIGH_PROFILE_FACTOR);
  const allows = ([, rate, frame, stored, bits, buffer]: Limits) =>
    blocks <= frame &&
    Math.max(columns, rows) <= Math.sqrt(8 * frame) &&
    blocks * framesPerSecond <= rate &&
    blocks * MIN_STORED_FRAMES <= stored &&
    kilobits(maxRate) <= bits &&
    kilobits(bufferSize) <= buffer;
  const highest: Limits = [62, 16_711_680, 139_264, 696_320, 800_000, 800_000];
  const [level, , , stored] = LEVELS.find(allows) ?? highest;
  return { level, maxFrames: Math.min(MAX_STORED_FRAMES, Math.floor(stored / blocks)) };
}
