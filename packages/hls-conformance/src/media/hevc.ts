import { BitReader } from './bit-reader.ts';
import { readColours } from './h264.ts';
import { withoutEmulationPrevention } from './nal-units.ts';
import type { SequenceParameters, VideoSyntax } from './video-syntax.ts';

/** Types of NAL units (ISO/IEC 23008-2 table 7-1). */
const NAL = {
  lastSlice: 31,
  idrWithLeading: 19,
  idr: 20,
  vps: 32,
  sps: 33,
  pps: 34,
  delimiter: 35,
  messages: [39, 40],
} as const;
const HEADER_BYTES = 2;

/** Limits of the standard (§7.4.3.2.1, §7.4.8). */
const MAX_SETS = 64;
const MAX_PICTURES = 16;

/** The syntax of HEVC in a sample entry of this type. */
export function hevcSyntax(entryType: 'hvc1' | 'hev1'): VideoSyntax {
  return {
    name: 'HEVC',
    parameterSets: new Map([
      [NAL.vps, 'VPS'],
      [NAL.sps, 'SPS'],
      [NAL.pps, 'PPS'],
    ]),
    sequenceType: NAL.sps,
    delimiterType: NAL.delimiter,
    setsAreInEntry: true,
    typeOf: nalType,
    isMessage,
    frameOf: (unit) => {
      const type = nalType(unit);
      if (type > NAL.lastSlice) return null;
      // After a CRA or BLA picture there may be pictures that cannot be decoded (§3.29, §3.111).
      return { isKey: type === NAL.idrWithLeading || type === NAL.idr, kind: `NAL type ${type}` };
    },
    readSequence: (unit) => readSequenceParameters(unit, entryType),
  };
}

function nalType(unit: Buffer): number {
  return (unit.readUInt8(0) >> 1) & 0x3f;
}

/** The profile, tier and level as the configuration record has them, too (ISO/IEC 14496-15 §8.3.3.1.2): 12 bytes. */
export const PROFILE_BYTES = 12;

/** The name in CODECS (ISO/IEC 14496-15 annex E.3) of a profile, tier and level. */
export function hevcName(entryType: string, profile: Buffer): string {
  const first = profile.readUInt8(0);
  const space = ['', 'A', 'B', 'C'][first >> 6];
  const tier = (first & 0x20) === 0 ? 'L' : 'H';
  const constraints = [...profile.subarray(5, 11)];
  while (constraints.at(-1) === 0) constraints.pop();
  return [
    entryType,
    `${space}${first & 0x1f}`,
    reversed(profile.readUInt32BE(1)).toString(16),
    `${tier}${profile.readUInt8(11)}`,
    ...constraints.map((byte) => byte.toString(16)),
  ].join('.');
}

/** 32 bits in reverse order. */
function reversed(bits: number): number {
  let value = 0;
  for (let at = 0; at < 32; at += 1) value = value * 2 + ((bits >>> at) & 1);
  return value;
}

/** Reads a sequence parameter set (§7.3.2.2.1). Throws a RangeError if it is truncated. */
function readSequenceParameters(unit: Buffer, entryType: string): SequenceParameters {
  const payload = withoutEmulationPrevention(unit.subarray(HEADER_BYTES));
  const reader = new BitReader(payload);
  reader.bits(4); // sps_video_parameter_set_id
  const subLayers = reader.bits(3);
  reader.flag(); // sps_temporal_id_nesting_flag
  const profile = Buffer.from(Array.from({ length: PROFILE_BYTES }, () => reader.bits(8)));
  skipSubLayers(reader, subLayers);
  reader.unsigned(); // sps_seq_parameter_set_id
  const format = reader.unsigned();
  const chroma = format === 3 && reader.flag() ? 0 : format;
  const [width, height] = [reader.unsigned(), reader.unsigned()];
  const [left, right, top, bottom] = reader.flag()
    ? [reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()]
    : [0, 0, 0, 0];
  // The window is in chroma samples (equations 7-27 and 7-28).
  const cropX = chroma === 1 || chroma === 2 ? 2 : 1;
  const cropY = chroma === 1 ? 2 : 1;
  skipToUsability(reader, subLayers);
  return {
    names: [hevcName(entryType, profile)],
    width: width - cropX * (left + right),
    height: height - cropY * (top + bottom),
    colours: readColours(reader),
  };
}

/** The profiles and levels of sub-layers (§7.3.3). */
function skipSubLayers(reader: BitReader, count: number): void {
  const present = Array.from({ length: count }, () => ({ profile: reader.flag(), level: reader.flag() }));
  if (count > 0) reader.bits(2 * (8 - count));
  for (const { profile, level } of present) reader.bits((profile ? 88 : 0) + (level ? 8 : 0));
}

/** Skips from the bit depth to vui_parameters_present_flag. */
function skipToUsability(reader: BitReader, subLayers: number): void {
  reader.unsigned(); // bit_depth_luma_minus8
  reader.unsigned(); // bit_depth_chroma_minus8
  const orderBits = reader.unsigned() + 4;
  for (let layer = reader.flag() ? 0 : subLayers; layer <= subLayers; layer += 1) skipUnsigned(reader, 3);
  skipUnsigned(reader, 6); // sizes of blocks and depths of their trees
  if (reader.flag() && reader.flag()) skipScalingLists(reader);
  reader.bits(2); // amp_enabled_flag, sample_adaptive_offset_enabled_flag
  if (reader.flag()) {
    reader.bits(8); // bit depths of PCM samples
    skipUnsigned(reader, 2);
    reader.flag(); // pcm_loop_filter_disabled_flag
  }
  skipReferenceSets(reader);
  if (reader.flag()) {
    for (let left = limited(reader.unsigned(), 32); left > 0; left -= 1) reader.bits(orderBits + 1);
  }
  reader.bits(2); // sps_temporal_mvp_enabled_flag, strong_intra_smoothing_enabled_flag
}

function skipUnsigned(reader: BitReader, count: number): void {
  for (let left = count; left > 0; left -= 1) reader.unsigned();
}

/** §7.3.4. */
function skipScalingLists(reader: BitReader): void {
  for (let size = 0; size < 4; size += 1) {
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (!reader.flag()) {
        reader.unsigned(); // scaling_list_pred_matrix_id_delta
        continue;
      }
      if (size > 1) reader.signed(); // scaling_list_dc_coef_minus8
      for (let left = Math.min(64, 1 << (4 + 2 * size)); left > 0; left -= 1) reader.signed();
    }
  }
}

/** The short-term reference picture sets (§7.3.7). The length of one depends on the one before it. */
function skipReferenceSets(reader: BitReader): void {
  let before: number[] = [];
  const count = limited(reader.unsigned(), MAX_SETS);
  for (let set = 0; set < count; set += 1)
    before = set > 0 && reader.flag() ? predictedSet(reader, before) : codedSet(reader);
}

/** Distances of the pictures, in the order of the standard: those before, nearest first, then those after. */
function codedSet(reader: BitReader): number[] {
  const [past, future] = [limited(reader.unsigned(), MAX_PICTURES), limited(reader.unsigned(), MAX_PICTURES)];
  const read = (count: number, sign: 1 | -1) => {
    let distance = 0;
    return Array.from({ length: count }, () => {
      distance += sign * (reader.unsigned() + 1);
      reader.flag(); // used_by_curr_pic
      return distance;
    });
  };
  return [...read(past, -1), ...read(future, 1)];
}

/** Equations 7-61 and 7-62. */
function predictedSet(reader: BitReader, before: readonly number[]): number[] {
  const sign = reader.flag() ? -1 : 1;
  const shift = sign * (reader.unsigned() + 1);
  const kept = [...before, 0].filter(() => reader.flag() || reader.flag()).map((each) => each + shift);
  const past = kept.filter((each) => each < 0).sort((a, b) => b - a);
  return [...past, ...kept.filter((each) => each > 0).sort((a, b) => a - b)];
}

function limited(value: number, most: number): number {
  if (value > most) throw new Error(`the sequence parameter set has ${value} of at most ${most} entries`);
  return value;
}

/** A message with the transfer function that screens of HLG prefer (annex D.2.38): payload type 147, of one byte. */
const PREFERRED_TRANSFER = { payloadType: 147, bytes: 1 };
/** The bits that end a message. */
const TRAILING_BITS = 0x80;

function isMessage(unit: Buffer): boolean {
  if (!NAL.messages.some((type) => type === nalType(unit))) return false;
  const [payloadType, bytes, , end, ...others] = unit.subarray(HEADER_BYTES);
  const isTransfer = payloadType === PREFERRED_TRANSFER.payloadType && bytes === PREFERRED_TRANSFER.bytes;
  return !(isTransfer && end === TRAILING_BITS && others.length === 0);
}
