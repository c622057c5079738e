import { TICKS } from '../pes-packets.ts';
import { type Box, bodyOf, boxesIn, fullBox, requiredBody } from './boxes.ts';
import type { Mp4Track } from './initialization.ts';

/** A sample of a fragment. Times in the timescale of its track. */
export type Sample = {
  track: Mp4Track;
  decodingTime: number;
  presentationTime: number;
  duration: number;
  /** From the beginning of its `moof`. */
  offset: number;
  size: number;
};

/** The times of a sample in ticks, from the beginning of the presentation. */
export function ticksOf({ track, ...sample }: Sample): {
  presentation: number;
  decoding: number;
  duration: number;
} {
  const ticks = (time: number) => (time * TICKS) / track.timescale;
  return {
    presentation: Math.round(ticks(sample.presentationTime - track.firstTime)),
    decoding: Math.round(ticks(sample.decodingTime - track.firstTime)),
    duration: ticks(sample.duration),
  };
}

/** Flags of `tfhd` (ISO/IEC 14496-12 §8.8.7). */
const TFHD = { baseOffset: 1, description: 2, duration: 8, size: 0x10, flags: 0x20, baseIsMoof: 0x2_0000 };
/** Flags of `trun` (§8.8.8). */
const TRUN = { offset: 1, firstFlags: 4, duration: 0x100, size: 0x200, flags: 0x400, composition: 0x800 };

/** A sample has at least one byte in the table or in the media, so this is far more than a segment has. */
const MAX_SAMPLES = 1_000_000;

/** Reads a `moof`: its samples by their place in the media, and how it breaks RFC 8216 §3.3. Throws if it is malformed. */
export function readMovieFragment(
  moof: Buffer,
  tracks: readonly Mp4Track[],
): { samples: Sample[]; violations: string[] } {
  const violations: string[] = [];
  const samples: Sample[] = [];
  for (const { type, body } of boxesIn(moof)) {
    if (type !== 'traf') continue;
    const boxes = boxesIn(body);
    const header = readHeader(requiredBody(boxes, 'tfhd'));
    const track = tracks.find(({ id }) => id === header.id);
    if (track === undefined) throw new Error(`there is no track ${header.id} in the initialization section`);
    if (header.isAbsolute) violations.push('a fragment has a base data offset');
    const time = decodingTimeOf(boxes);
    if (time === null) violations.push('a fragment has no decoding time (tfdt)');
    for (const sample of samplesOf(boxes, { track, header, time: time ?? 0, before: samples.at(-1) }))
      samples.push(sample);
    if (samples.length > MAX_SAMPLES) throw new Error(`a fragment has more than ${MAX_SAMPLES} samples`);
  }
  return { samples: samples.sort((a, b) => a.offset - b.offset), violations };
}

type Header = { id: number; isAbsolute: boolean; duration: number | null; size: number | null };

function readHeader(tfhd: Buffer): Header {
  const { flags, rest } = fullBox(tfhd);
  let at = 4;
  const optional = (flag: number, bytes: number): number | null => {
    if ((flags & flag) === 0) return null;
    at += bytes;
    return bytes === 4 ? rest.readUInt32BE(at - bytes) : 0;
  };
  const isAbsolute = optional(TFHD.baseOffset, 8) !== null;
  optional(TFHD.description, 4);
  const duration = optional(TFHD.duration, 4);
  return { id: rest.readUInt32BE(0), isAbsolute, duration, size: optional(TFHD.size, 4) };
}

function decodingTimeOf(boxes: readonly Box[]): number | null {
  const tfdt = bodyOf(boxes, 'tfdt');
  if (tfdt === undefined) return null;
  const { version, rest } = fullBox(tfdt);
  return version === 0 ? rest.readUInt32BE(0) : Number(rest.readBigUInt64BE(0));
}

function samplesOf(
  boxes: readonly Box[],
  context: { track: Mp4Track; header: Header; time: number; before: Sample | undefined },
): Sample[] {
  const samples: Sample[] = [];
  for (const { type, body } of boxes) {
    if (type !== 'trun') continue;
    const previous = samples.at(-1);
    const time = previous === undefined ? context.time : previous.decodingTime + previous.duration;
    for (const sample of readRun(body, { ...context, time, before: previous ?? context.before }))
      samples.push(sample);
  }
  return samples;
}

/** Reads a run of samples (§8.8.8). Without an offset of its own it follows the samples `before` it. */
function readRun(
  trun: Buffer,
  {
    track,
    header,
    time,
    before,
  }: { track: Mp4Track; header: Header; time: number; before: Sample | undefined },
): Sample[] {
  const { version, flags, rest } = fullBox(trun);
  const count = rest.readUInt32BE(0);
  if (count > MAX_SAMPLES) throw new Error(`a fragment has more than ${MAX_SAMPLES} samples`);
  let at = 4;
  const next = (flag: number): number | undefined => {
    if ((flags & flag) === 0) return undefined;
    at += 4;
    return rest.readUInt32BE(at - 4);
  };
  const signed = (value: number | undefined) => (value === undefined ? undefined : value | 0);
  let offset = signed(next(TRUN.offset)) ?? (before === undefined ? 0 : before.offset + before.size);
  next(TRUN.firstFlags);
  let decodingTime = time;
  return Array.from({ length: count }, () => {
    const duration = next(TRUN.duration) ?? header.duration ?? track.defaults.duration;
    const size = next(TRUN.size) ?? header.size ?? track.defaults.size;
    next(TRUN.flags);
    const composition = next(TRUN.composition) ?? 0;
    const presentationTime = decodingTime + (version === 0 ? composition : composition | 0);
    const sample = { track, decodingTime, presentationTime, duration, offset, size };
    decodingTime += duration;
    offset += size;
    return sample;
  });
}
