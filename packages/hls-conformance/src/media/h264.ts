import { BitReader } from './bit-reader.ts';
import { withoutEmulationPrevention } from './nal-units.ts';
import { type ColourTags, type SequenceParameters, UNTAGGED, type VideoSyntax } from './video-syntax.ts';

/** Types of NAL units (ISO/IEC 14496-10 table 7-1). */
const NAL = { slice: 1, partition: 2, idrSlice: 5, sps: 7, pps: 8, delimiter: 9 } as const;

/** Profiles whose parameter sets have a chroma format (§7.3.2.1.1). */
const PROFILES_WITH_CHROMA = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

function nalType(unit: Buffer): number {
  return unit.readUInt8(0) & 0x1f;
}

/** Whether a type of NAL unit is a slice or a slice data partition. */
function isSlice(type: number): boolean {
  return type >= NAL.slice && type <= NAL.idrSlice;
}

/** Reads a sequence parameter set (§7.3.2.1.1). Throws a RangeError if it is truncated. */
function readSequenceParameters(unit: Buffer): SequenceParameters {
  const reader = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const [profile, constraints, level] = [reader.bits(8), reader.bits(8), reader.bits(8)];
  reader.unsigned(); // seq_parameter_set_id
  const chroma = PROFILES_WITH_CHROMA.has(profile) ? readChroma(reader) : 1;
  reader.unsigned(); // log2_max_frame_num_minus4
  skipPictureOrderCount(reader);
  reader.unsigned(); // max_num_ref_frames
  reader.flag(); // gaps_in_frame_num_value_allowed_flag
  const columns = reader.unsigned() + 1;
  const rows = reader.unsigned() + 1;
  const fields = reader.flag() ? 1 : 2;
  if (fields === 2) reader.flag(); // mb_adaptive_frame_field_flag
  reader.flag(); // direct_8x8_inference_flag
  const [left, right, top, bottom] = reader.flag()
    ? [reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()]
    : [0, 0, 0, 0];
  // Cropping is in chroma samples (equations 7-19 to 7-22).
  const cropX = chroma === 1 || chroma === 2 ? 2 : 1;
  const cropY = (chroma === 1 ? 2 : 1) * fields;
  return {
    names: [`avc1.${Buffer.from([profile, constraints, level]).toString('hex')}`],
    width: 16 * columns - cropX * (left + right),
    height: 16 * rows * fields - cropY * (top + bottom),
    colours: readColours(reader),
  };
}

/** The aspect_ratio_idc that width and height follow (table E-1). */
const EXTENDED_ASPECT_RATIO = 255;

/** Reads the colours from the video usability information, if there is any (annex E.1.1). HEVC begins with the same fields. */
export function readColours(reader: BitReader): ColourTags {
  if (!reader.flag()) return UNTAGGED;
  if (reader.flag() && reader.bits(8) === EXTENDED_ASPECT_RATIO) reader.bits(32);
  if (reader.flag()) reader.flag(); // overscan_appropriate_flag
  if (!reader.flag()) return UNTAGGED;
  reader.bits(3); // video_format
  const fullRange = reader.flag();
  if (!reader.flag()) return { ...UNTAGGED, fullRange };
  return { primaries: reader.bits(8), transfer: reader.bits(8), matrix: reader.bits(8), fullRange };
}

/** Reads the fields from chroma_format_idc to the scaling lists. Returns chroma_format_idc, or 0 for separate planes. */
function readChroma(reader: BitReader): number {
  const format = reader.unsigned();
  const separatePlanes = format === 3 && reader.flag();
  reader.unsigned(); // bit_depth_luma_minus8
  reader.unsigned(); // bit_depth_chroma_minus8
  reader.flag(); // qpprime_y_zero_transform_bypass_flag
  if (reader.flag()) {
    for (let list = 0; list < (format === 3 ? 12 : 8); list += 1) {
      if (reader.flag()) skipScalingList(reader, list < 6 ? 16 : 64);
    }
  }
  return separatePlanes ? 0 : format;
}

function skipScalingList(reader: BitReader, size: number): void {
  let [last, next] = [8, 8];
  for (let at = 0; at < size; at += 1) {
    if (next !== 0) next = (last + reader.signed() + 256) % 256;
    if (next !== 0) last = next;
  }
}

function skipPictureOrderCount(reader: BitReader): void {
  const type = reader.unsigned();
  if (type === 0) reader.unsigned(); // log2_max_pic_order_cnt_lsb_minus4
  if (type !== 1) return;
  reader.flag(); // delta_pic_order_always_zero_flag
  reader.signed(); // offset_for_non_ref_pic
  reader.signed(); // offset_for_top_to_bottom_field
  for (let left = reader.unsigned(); left > 0; left -= 1) reader.signed();
}

export const H264: VideoSyntax = {
  name: 'H.264',
  parameterSets: new Map([
    [NAL.sps, 'SPS'],
    [NAL.pps, 'PPS'],
  ]),
  sequenceType: NAL.sps,
  delimiterType: NAL.delimiter,
  setsAreInEntry: true,
  typeOf: nalType,
  isMessage: () => false,
  frameOf: (unit) => {
    const type = nalType(unit);
    return isSlice(type) ? { isKey: type === NAL.idrSlice, kind: `NAL type ${type}` } : null;
  },
  readSequence: readSequenceParameters,
};
