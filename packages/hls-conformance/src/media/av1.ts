import { BitReader } from './bit-reader.ts';
import type { ColourTags, SequenceParameters, VideoSyntax } from './video-syntax.ts';
import { rangeOf, UNTAGGED } from './video-syntax.ts';

/** Types of OBUs (AV1 specification §6.2.2). */
const OBU = { sequence: 1, delimiter: 2, frameHeader: 3, metadata: 5, frame: 6 } as const;
/** frame_type (§6.8.2). */
const FRAME_KINDS = ['KEY', 'INTER', 'INTRA_ONLY', 'SWITCH'] as const;

/** AV1. Its sequence header is in the key frames (AV1 in ISOBMFF §2.4). */
export const AV1: VideoSyntax = {
  name: 'AV1',
  parameterSets: new Map([[OBU.sequence, 'sequence header']]),
  sequenceType: OBU.sequence,
  delimiterType: OBU.delimiter,
  setsAreInEntry: false,
  typeOf: obuType,
  isMessage: (unit) => obuType(unit) === OBU.metadata,
  frameOf: (unit) => {
    const type = obuType(unit);
    if (type !== OBU.frame && type !== OBU.frameHeader) return null;
    const reader = new BitReader(payloadOf(unit));
    if (reader.flag()) return { isKey: false, kind: 'a repeated frame' };
    const kind = FRAME_KINDS[reader.bits(2)] ?? '';
    // A key frame that is shown later is no point to begin at (AV1 in ISOBMFF §2.5).
    return { isKey: kind === 'KEY' && reader.flag(), kind: `frame type ${kind}` };
  },
  readSequence: (unit) => readSequenceHeader(payloadOf(unit)),
};

function obuType(unit: Buffer): number {
  return (unit.readUInt8(0) >> 3) & 0x0f;
}

/** The OBUs in some bytes (§5.3), each with its header. Throws if one is truncated. */
export function obusIn(bytes: Buffer): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { headerBytes, payloadBytes } = headerOf(bytes.subarray(at));
    const end = at + headerBytes + payloadBytes;
    if (end > bytes.length) throw new Error('an OBU is longer than its frame');
    units.push(bytes.subarray(at, end));
    at = end;
  }
  return units;
}

function payloadOf(unit: Buffer): Buffer {
  return unit.subarray(headerOf(unit).headerBytes);
}

/** Without a size, an OBU lasts to the end (§5.3.1). */
function headerOf(bytes: Buffer): { headerBytes: number; payloadBytes: number } {
  const flags = bytes.readUInt8(0);
  const begin = (flags & 0x04) === 0 ? 1 : 2;
  if ((flags & 0x02) === 0) return { headerBytes: begin, payloadBytes: Math.max(0, bytes.length - begin) };
  let [size, at] = [0, begin];
  for (let more = true; more && at < begin + 8; at += 1) {
    const byte = bytes.readUInt8(at);
    size += (byte & 0x7f) * 128 ** (at - begin);
    more = (byte & 0x80) !== 0;
  }
  return { headerBytes: at, payloadBytes: size };
}

/** What the configuration record (`av1C`) and a sequence header both say. */
export type Av1Profile = {
  profile: number;
  level: number;
  tier: number;
  depth: number;
  monochrome: boolean;
  /** Whether chroma has half the columns and half the rows. */
  subsampling: [boolean, boolean];
  /** Where chroma samples are. */
  position: number;
};

/** `av1C` (AV1 in ISOBMFF §2.3): its fields and its OBUs. */
export function readAv1Configuration(av1C: Buffer): { stated: Av1Profile; units: Buffer[] } {
  const reader = new BitReader(av1C.subarray(1, 4));
  const [profile, level, tier] = [reader.bits(3), reader.bits(5), reader.bits(1)];
  const [isHigh, isTwelve, monochrome] = [reader.flag(), reader.flag(), reader.flag()];
  const stated = {
    profile,
    level,
    tier,
    depth: depthOf(isHigh, isTwelve),
    monochrome,
    subsampling: [reader.flag(), reader.flag()] as [boolean, boolean],
    position: reader.bits(2),
  };
  return { stated, units: obusIn(av1C.subarray(4)) };
}

/** The short name in CODECS (AV1 in ISOBMFF §5), which is also the beginning of the long one. */
export function av1Name({ profile, level, tier, depth }: Av1Profile): string {
  return `av01.${profile}.${digits(level, 2)}${tier === 0 ? 'M' : 'H'}.${digits(depth, 2)}`;
}

/** The short name stands for 4:2:0 and an SDR transfer. With anything else, players need the long one. */
function namesOf(profile: Av1Profile, colours: ColourTags): [string, ...string[]] {
  const { monochrome, subsampling, position } = profile;
  const isUsual = !monochrome && subsampling[0] && subsampling[1] && rangeOf(colours) === 'SDR';
  const chroma = `${Number(subsampling[0])}${Number(subsampling[1])}${subsampling[0] && subsampling[1] ? position : 0}`;
  const short = av1Name(profile);
  const { primaries, transfer, matrix, fullRange } = colours;
  const codes = [primaries, transfer, matrix].map((code) => digits(code, 2)).join('.');
  const long = `${short}.${Number(monochrome)}.${chroma}.${codes}.${Number(fullRange)}`;
  return isUsual ? [short, long] : [long];
}

function digits(value: number, count: number): string {
  return String(value).padStart(count, '0');
}

function depthOf(isHigh: boolean, isTwelve: boolean): number {
  return isHigh ? (isTwelve ? 12 : 10) : 8;
}

/** The profile of the sequence header in an OBU. */
export function readAv1Profile(unit: Buffer): Av1Profile {
  return readSequence(payloadOf(unit)).profile;
}

function readSequenceHeader(payload: Buffer): SequenceParameters {
  const { profile, width, height, colours } = readSequence(payload);
  return { names: namesOf(profile, colours), width, height, colours };
}

/** Reads a sequence header (§5.5). Throws a RangeError if it is truncated. */
function readSequence(payload: Buffer): {
  profile: Av1Profile;
  width: number;
  height: number;
  colours: ColourTags;
} {
  const reader = new BitReader(payload);
  const profile = reader.bits(3);
  reader.flag(); // still_picture
  const isReduced = reader.flag();
  const { level, tier } = isReduced ? { level: reader.bits(5), tier: 0 } : readOperatingPoints(reader);
  const [widthBits, heightBits] = [reader.bits(4) + 1, reader.bits(4) + 1];
  const [width, height] = [reader.bits(widthBits) + 1, reader.bits(heightBits) + 1];
  skipTools(reader, isReduced);
  const { colours, ...format } = readColourConfig(reader, profile);
  return { profile: { profile, level, tier, ...format }, width, height, colours };
}

/** The level and the tier of the first operating point, which decoders choose. */
function readOperatingPoints(reader: BitReader): { level: number; tier: number } {
  let delayBits: number | null = null;
  if (reader.flag()) {
    reader.bits(64); // timing_info
    if (reader.flag()) reader.unsigned(); // num_ticks_per_picture_minus_1
    if (reader.flag()) {
      delayBits = reader.bits(5) + 1;
      reader.bits(42); // decoder_model_info
    }
  }
  const hasDelays = reader.flag();
  const points = Array.from({ length: reader.bits(5) + 1 }, () => {
    reader.bits(12); // operating_point_idc
    const level = reader.bits(5);
    const tier = level > 7 ? reader.bits(1) : 0;
    if (delayBits !== null && reader.flag()) reader.bits(2 * delayBits + 1);
    if (hasDelays && reader.flag()) reader.bits(4);
    return { level, tier };
  });
  return points[0] ?? { level: 0, tier: 0 };
}

/** Skips from the identifiers of frames to enable_restoration. */
function skipTools(reader: BitReader, isReduced: boolean): void {
  if (!isReduced && reader.flag()) reader.bits(7); // lengths of the identifiers
  reader.bits(3); // use_128x128_superblock, enable_filter_intra, enable_intra_edge_filter
  if (!isReduced) {
    reader.bits(4); // compound modes, warped motion, dual filter
    const hasOrder = reader.flag();
    if (hasOrder) reader.bits(2); // enable_jnt_comp, enable_ref_frame_mvs
    const forcesScreenTools = reader.flag() || reader.flag();
    if (forcesScreenTools && !reader.flag()) reader.flag(); // seq_force_integer_mv
    if (hasOrder) reader.bits(3); // order_hint_bits_minus_1
  }
  reader.bits(3); // enable_superres, enable_cdef, enable_restoration
}

/** §5.5.2. */
function readColourConfig(
  reader: BitReader,
  profile: number,
): Pick<Av1Profile, 'depth' | 'monochrome' | 'subsampling' | 'position'> & { colours: ColourTags } {
  const isHigh = reader.flag();
  const depth = depthOf(isHigh, profile === 2 && isHigh && reader.flag());
  const monochrome = profile !== 1 && reader.flag();
  const { primaries, transfer, matrix } = reader.flag()
    ? { primaries: reader.bits(8), transfer: reader.bits(8), matrix: reader.bits(8) }
    : UNTAGGED;
  const colours = (fullRange: boolean) => ({ primaries, transfer, matrix, fullRange });
  if (monochrome)
    return { depth, monochrome, subsampling: [true, true], position: 0, colours: colours(reader.flag()) };
  if (primaries === 1 && transfer === 13 && matrix === 0)
    return { depth, monochrome, subsampling: [false, false], position: 0, colours: colours(true) };
  const fullRange = reader.flag();
  const subsampling = readSubsampling(reader, profile, depth);
  const position = subsampling[0] && subsampling[1] ? reader.bits(2) : 0;
  return { depth, monochrome, subsampling, position, colours: colours(fullRange) };
}

function readSubsampling(reader: BitReader, profile: number, depth: number): [boolean, boolean] {
  if (profile === 0) return [true, true];
  if (profile === 1) return [false, false];
  if (depth !== 12) return [true, false];
  const columns = reader.flag();
  return [columns, columns && reader.flag()];
}
