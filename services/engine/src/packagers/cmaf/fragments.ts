import { ToolOutputError } from '../../sandbox/tool-output.ts';
import { box, boxesIn, contentOf, FULL_BOX_BYTES, fullBox } from './boxes.ts';
import type { Initialization } from './initialization.ts';

/** A sample of a fragment: an access unit. Times in the timescale of its track. */
export type Sample = {
  decodingTime: number;
  presentationTime: number;
  duration: number;
  flags: number;
  bytes: Buffer;
};

/** Flags of `tfhd` (ISO/IEC 14496-12 §8.8.7). */
const TFHD = { baseOffset: 1, description: 2, duration: 8, size: 0x10, flags: 0x20, baseIsMoof: 0x2_0000 };
/** Flags of `trun` (§8.8.8). */
const TRUN = { offset: 1, firstFlags: 4, duration: 0x100, size: 0x200, flags: 0x400, composition: 0x800 };
/** Flag of a sample: decoding cannot start there (§8.8.3.1). */
const IS_NOT_SYNC = 0x1_0000;

/** In the version and flags of `trun`: composition offsets have a sign. */
const SIGNED_OFFSETS = 1 << 24;
/** More than a segment has. Without a limit, samples of one byte take much more memory than their bytes. */
const MAX_SAMPLES = 20_000;

/** With it, all times of a segment are exact. */
const MAX_DECODING_TIME = 2n ** 48n;

/** Whether a sample is declared as one where decoding can start. */
export function isSync({ flags }: Sample): boolean {
  return (flags & IS_NOT_SYNC) === 0;
}

/**
 * The samples of a segment in decoding order: of each fragment, a `moof` and its `mdat`, as ffmpeg writes them for one track. Throws if the
 * segment is truncated, or its fragments do not describe its media exactly; a ToolOutputError if it has more samples than ffmpeg writes.
 */
export function samplesOf(segment: Buffer, track: WithDefaults): Sample[] {
  const samples: Sample[] = [];
  for (const { moof, media } of fragmentsOf(segment))
    for (const sample of samplesOfFragment(moof, media, track)) {
      if (samples.length === MAX_SAMPLES) throw new ToolOutputError('A segment has too many samples');
      samples.push(sample);
    }
  if (samples.length === 0) throw new Error('A segment has no media');
  return samples;
}

/** ffmpeg writes no sizes of samples into initialization sections, so a segment can be checked without its section. */
const NO_DEFAULTS = { defaults: { duration: 0, size: 0, flags: 0 } };

/** Whether bytes are a segment whose fragments describe its media exactly. The bytes of the samples are not read. */
export function isSegment(bytes: Buffer): boolean {
  try {
    return samplesOf(bytes, NO_DEFAULTS).length > 0;
  } catch {
    return false;
  }
}

/** The fragments of a segment. Other boxes do not matter. */
function* fragmentsOf(segment: Buffer): Generator<{ moof: Buffer; media: Buffer }> {
  const boxes = boxesIn(segment).filter(({ type }) => ['moof', 'mdat'].includes(type));
  for (let at = 0; at < boxes.length; at += 2) {
    const [moof, media] = [boxes[at], boxes[at + 1]];
    if (moof?.type !== 'moof') throw new Error('A segment has media without a fragment');
    if (media?.type !== 'mdat') throw new Error('A segment has a fragment without media');
    yield { moof: moof.content, media: media.content };
  }
}

function* samplesOfFragment(moof: Buffer, media: Buffer, track: WithDefaults): Generator<Sample> {
  const boxes = boxesIn(contentOf(boxesIn(moof), 'traf'));
  const defaults = defaultsOf(contentOf(boxes, 'tfhd'), track);
  let decodingTime = decodingTimeOf(contentOf(boxes, 'tfdt'));
  let at = 0;
  for (const { type, content } of boxes) {
    if (type !== 'trun') continue;
    for (const { size, composition, ...sample } of runOf(content, defaults)) {
      if (at + size > media.length) throw new Error('The media of a fragment is truncated');
      yield {
        ...sample,
        decodingTime,
        presentationTime: decodingTime + composition,
        bytes: media.subarray(at, at + size),
      };
      decodingTime += sample.duration;
      at += size;
    }
  }
  if (at !== media.length) throw new Error('A fragment does not describe all its media');
}

function decodingTimeOf(tfdt: Buffer): number {
  if (tfdt.readUInt8(0) === 0) return tfdt.readUInt32BE(FULL_BOX_BYTES);
  const time = tfdt.readBigUInt64BE(FULL_BOX_BYTES);
  if (time > MAX_DECODING_TIME) throw new Error('A decoding time is too large');
  return Number(time);
}

type WithDefaults = Pick<Initialization, 'defaults'>;
type Defaults = Initialization['defaults'];

function defaultsOf(tfhd: Buffer, { defaults }: WithDefaults): Defaults {
  const flags = tfhd.readUIntBE(1, 3);
  let at = FULL_BOX_BYTES + 4;
  const next = (flag: number, bytes: number): number | undefined => {
    if ((flags & flag) === 0) return undefined;
    at += bytes;
    return tfhd.readUInt32BE(at - 4);
  };
  next(TFHD.baseOffset, 8);
  next(TFHD.description, 4);
  return {
    duration: next(TFHD.duration, 4) ?? defaults.duration,
    size: next(TFHD.size, 4) ?? defaults.size,
    flags: next(TFHD.flags, 4) ?? defaults.flags,
  };
}

type Entry = Pick<Sample, 'duration' | 'flags'> & { size: number; composition: number };

function* runOf(trun: Buffer, defaults: Defaults): Generator<Entry> {
  const version = trun.readUInt8(0);
  const flags = trun.readUIntBE(1, 3);
  const count = trun.readUInt32BE(FULL_BOX_BYTES);
  let at = FULL_BOX_BYTES + 4;
  const next = (flag: number): number | undefined => {
    if ((flags & flag) === 0) return undefined;
    at += 4;
    return trun.readUInt32BE(at - 4);
  };
  next(TRUN.offset);
  const firstFlags = next(TRUN.firstFlags);
  for (let sample = 0; sample < count; sample += 1) {
    const duration = next(TRUN.duration) ?? defaults.duration;
    const size = next(TRUN.size) ?? defaults.size;
    // Without bytes, the number of samples would have no limit.
    if (size === 0) throw new Error('A sample is empty');
    const own = next(TRUN.flags) ?? defaults.flags;
    const composition = next(TRUN.composition) ?? 0;
    yield {
      duration,
      size,
      flags: sample === 0 ? (firstFlags ?? own) : own,
      composition: version === 0 ? composition : composition | 0,
    };
  }
}

/** A segment of consecutive samples: one fragment. */
export function segmentOf(samples: readonly Sample[], { trackId }: Initialization): Buffer {
  const [first] = samples;
  if (first === undefined) throw new Error('A segment needs a sample');
  const time = Buffer.alloc(FULL_BOX_BYTES + 8);
  time.writeUInt8(1);
  time.writeBigUInt64BE(BigInt(first.decodingTime), FULL_BOX_BYTES);
  const isSigned = samples.some(({ presentationTime, decodingTime }) => presentationTime < decodingTime);
  const fields = TRUN.offset | TRUN.duration | TRUN.size | TRUN.flags | TRUN.composition;
  const entries = samples.flatMap(({ duration, bytes, flags, presentationTime, decodingTime }) => [
    duration,
    bytes.length,
    flags,
    presentationTime - decodingTime,
  ]);
  const fragment = (mediaOffset: number) =>
    box(
      'moof',
      // Readers ignore the sequence number, which says how many fragments were written before.
      fullBox('mfhd', 0, [1]),
      box(
        'traf',
        fullBox('tfhd', TFHD.baseIsMoof, [trackId]),
        box('tfdt', time),
        fullBox('trun', isSigned ? SIGNED_OFFSETS | fields : fields, [
          samples.length,
          mediaOffset,
          ...entries,
        ]),
      ),
    );
  const media = box('mdat', ...samples.map(({ bytes }) => bytes));
  const mediaHeaderBytes = 8;
  return Buffer.concat([fragment(fragment(0).length + mediaHeaderBytes), media]);
}
