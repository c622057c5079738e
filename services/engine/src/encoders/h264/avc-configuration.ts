import type { PlainEncoder } from '../encoder.ts';
import { declareIn } from './declared-codec.ts';
import { IDR_SLICE, PICTURE_PARAMETER_SET, SEQUENCE_PARAMETER_SET, SLICES } from './nal-unit-types.ts';

/** A decoder configuration record, the content of the box `avcC` (ISO/IEC 14496-15 §5.3.3.1). */
type Configuration = {
  /** Version, profile, constraints, level, and the size of lengths. */
  head: Buffer;
  sequenceSets: Buffer[];
  pictureSets: Buffer[];
  /** Of the high profiles. */
  rest: Buffer;
};

/** The fields before the number of sequence parameter sets, whose upper three bits are ones. */
const HEAD_BYTES = 5;
const MAX_SEQUENCE_SETS = 31;
const MAX_PICTURE_SETS = 255;
/** Of a sequence parameter set (ISO/IEC 14496-10 §7.4.2.1.1). x264 gives its picture parameter set the same id. */
const MAX_SET_ID = 31;
/** Bytes of the length before each NAL unit: the muxer of ffmpeg writes no others. */
const LENGTH_BYTES = 4;

/** RFC 6381 codec string: profile, constraints and level. Throws if the record is truncated. */
export function configuredCodec(configuration: Buffer): string {
  const { head, sequenceSets } = read(configuration);
  if (sequenceSets.length === 0) throw new Error('There is no sequence parameter set');
  return `avc1.${head.toString('hex', 1, 4)}`;
}

/** Whether a sample is an IDR picture. False if its first slice is after more units than any picture needs. */
export function isIdrSample(sample: Buffer): boolean {
  let units = 0;
  for (const unit of unitsOf(sample)) {
    if (SLICES.includes(typeOf(unit))) return typeOf(unit) === IDR_SLICE;
    units += 1;
    if (units > MAX_UNITS) return false;
  }
  return false;
}

/**
 * Tells whether the configuration has one sequence parameter set, and all parameter sets in a sample are those of the configuration. False for a
 * sample of more units than any picture needs: to look at all of them would take long.
 */
export function isConfigured(configuration: Buffer): (sample: Buffer) => boolean {
  const { sequenceSets, pictureSets } = read(configuration);
  if (sequenceSets.length !== 1) return () => false;
  const known = new Set([...sequenceSets, ...pictureSets].map((set) => set.toString('latin1')));
  return (sample) => {
    let units = 0;
    for (const unit of unitsOf(sample)) {
      units += 1;
      if (units > MAX_UNITS) return false;
      if (PARAMETER_SETS.includes(typeOf(unit)) && !known.has(unit.toString('latin1'))) return false;
    }
    return true;
  };
}

/** A picture of 1080p has 68 rows of macroblocks, and usually at most one slice for each. */
const MAX_UNITS = 1000;

const PARAMETER_SETS = [SEQUENCE_PARAMETER_SET, PICTURE_PARAMETER_SET];

/**
 * The id for new parameter sets: the lowest one that no parameter set has. If the configuration has no room for another set, the id of the last
 * one: a clip of many clips has the same set with each id, so `extended` finds it equal or throws.
 */
export function freeSetId(configuration: Buffer): number {
  const { sequenceSets, pictureSets } = read(configuration);
  const used = [...sequenceSets.map(sequenceSetId), ...pictureSets.map(pictureSetId)];
  const free = Array.from({ length: MAX_SET_ID + 1 }, (_, id) => id).find((id) => !used.includes(id));
  if (free !== undefined && sequenceSets.length < MAX_SEQUENCE_SETS) return free;
  return Math.max(0, ...sequenceSets.slice(-1).map(sequenceSetId));
}

/** See PlainEncoder. */
export const extended: PlainEncoder['extended'] = (configuration, other, codecs) => {
  const { head, sequenceSets, pictureSets, rest } = read(configuration);
  const added = read(other);
  const declared = added.sequenceSets.map((set) => {
    const copy = Buffer.from(set);
    declareIn(copy, codecs);
    return copy;
  });
  return write({
    head,
    sequenceSets: union(sequenceSets, declared, sequenceSetId),
    pictureSets: union(pictureSets, added.pictureSets, pictureSetId),
    rest,
  });
};

function union(sets: readonly Buffer[], others: readonly Buffer[], idOf: (set: Buffer) => number): Buffer[] {
  const added = others.filter((other) => !sets.some((set) => set.equals(other)));
  const isTaken = (set: Buffer) => sets.some((other) => idOf(other) === idOf(set));
  if (added.some(isTaken)) throw new Error('Two different parameter sets have the same id');
  return [...sets, ...added];
}

function read(configuration: Buffer): Configuration {
  if ((configuration.readUInt8(HEAD_BYTES - 1) & 3) !== LENGTH_BYTES - 1)
    throw new Error('The lengths of NAL units have another size');
  let at = HEAD_BYTES;
  const setsOf = (max: number) => {
    const count = configuration.readUInt8(at) & max;
    at += 1;
    return Array.from({ length: count }, () => {
      const begin = at + 2;
      at = begin + configuration.readUInt16BE(at);
      if (at > configuration.length) throw new Error('A parameter set is truncated');
      return configuration.subarray(begin, at);
    });
  };
  const sequenceSets = setsOf(MAX_SEQUENCE_SETS);
  const pictureSets = setsOf(MAX_PICTURE_SETS);
  return {
    head: configuration.subarray(0, HEAD_BYTES),
    sequenceSets,
    pictureSets,
    rest: configuration.subarray(at),
  };
}

function write({ head, sequenceSets, pictureSets, rest }: Configuration): Buffer {
  if (sequenceSets.length > MAX_SEQUENCE_SETS || pictureSets.length > MAX_PICTURE_SETS)
    throw new Error('There are too many parameter sets');
  return Buffer.concat([
    head,
    Buffer.from([0xe0 | sequenceSets.length]),
    ...sequenceSets.map(withLength),
    Buffer.from([pictureSets.length]),
    ...pictureSets.map(withLength),
    rest,
  ]);
}

function withLength(set: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(set.length);
  return Buffer.concat([length, set]);
}

/** The NAL units of a sample. Ends before one that is truncated: the decoder of a copy has reported it. */
function* unitsOf(sample: Buffer): Generator<Buffer> {
  for (let at = 0; at + LENGTH_BYTES < sample.length; ) {
    const end = at + LENGTH_BYTES + sample.readUInt32BE(at);
    if (end > sample.length) break;
    yield sample.subarray(at + LENGTH_BYTES, end);
    at = end;
  }
}

function typeOf(unit: Buffer): number {
  return (unit[0] ?? 0) & 0x1f;
}

/** The id of a sequence parameter set is after its header, profile, constraints and level (ISO/IEC 14496-10 §7.3.2.1.1). */
function sequenceSetId(set: Buffer): number {
  return unsignedAt(set, 8 * 4);
}

/** The id of a picture parameter set is after its header (§7.3.2.2). */
function pictureSetId(set: Buffer): number {
  return unsignedAt(set, 8);
}

/** The Exp-Golomb code at a bit (§9.1): as many zeros as the number has bits after its first one. Ids have few. */
function unsignedAt(bytes: Buffer, bit: number): number {
  const bitAt = (at: number) => ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
  let zeros = 0;
  while (zeros < 8 && bitAt(bit + zeros) === 0) zeros += 1;
  let value = 1;
  for (let at = 1; at <= zeros; at += 1) value = 2 * value + bitAt(bit + zeros + at);
  return value - 1;
}
