/** A moving grey pattern. */
type Pattern = {
  /** Pixels. The width is a multiple of 16, the height of 32 (two fields). */
  width: number;
  height: number;
  frames: number;
  /** The field that is displayed first. */
  first: 'upper' | 'lower';
  /** Brightness of a column in a field; fields are numbered from zero. */
  luma: (x: number, field: number) => number;
};

/** Pixels of a macroblock's side. */
const BLOCK = 16;
const NEUTRAL_CHROMA = Buffer.alloc(2 * (BLOCK / 2) ** 2, 128);

/** NAL unit header bytes (nal_ref_idc and nal_unit_type). */
const SPS_HEADER = 0x67;
const PPS_HEADER = 0x68;
const IDR_SLICE_HEADER = 0x65;
const SLICE_HEADER = 0x61;
/** The macroblock type of uncompressed samples. */
const I_PCM = 25;

/**
 * A byte stream of H.264 with separately coded fields, as broadcasters send it. No free encoder writes that. Every macroblock
 * is uncompressed, as I_PCM (ISO/IEC 14496-10 §7.3).
 */
export function fieldCodedVideo({ width, height, frames, first, luma }: Pattern): Buffer {
  const columns = width / BLOCK;
  const rows = height / 2 / BLOCK;
  const units: Buffer[] = [];
  for (let field = 0; field < 2 * frames; field += 1) {
    const isSecond = field % 2 === 1;
    if (!isSecond) units.push(sequenceParameterSet(columns, rows), pictureParameterSet());
    const isLower = isSecond === (first === 'upper');
    const slice = sliceHeader(field >> 1, isSecond, isLower);
    for (let at = 0; at < columns * rows; at += 1) {
      const left = (at % columns) * BLOCK;
      const line = Buffer.from(Array.from({ length: BLOCK }, (_, x) => luma(left + x, field)));
      slice.ue(I_PCM).align();
      slice.raw(Buffer.concat([...Array.from({ length: BLOCK }, () => line), NEUTRAL_CHROMA]));
    }
    units.push(unit(isSecond ? SLICE_HEADER : IDR_SLICE_HEADER, slice));
  }
  return Buffer.concat(units);
}

/** High profile, level 3, 4:2:0, picture order count type 0, one reference frame, fields allowed (§7.3.2.1.1). */
function sequenceParameterSet(columns: number, rows: number): Buffer {
  const bits = new Bits()
    .bits(100, 8) // profile_idc
    .bits(0, 8) // constraint_set0_flag to constraint_set5_flag, reserved_zero_2bits
    .bits(30, 8) // level_idc
    .ue(0) // seq_parameter_set_id
    .ue(1) // chroma_format_idc
    .ue(0) // bit_depth_luma_minus8
    .ue(0) // bit_depth_chroma_minus8
    .bits(0, 1) // qpprime_y_zero_transform_bypass_flag
    .bits(0, 1) // seq_scaling_matrix_present_flag
    .ue(0) // log2_max_frame_num_minus4
    .ue(0) // pic_order_cnt_type
    .ue(0) // log2_max_pic_order_cnt_lsb_minus4
    .ue(1) // max_num_ref_frames
    .bits(0, 1) // gaps_in_frame_num_value_allowed_flag
    .ue(columns - 1) // pic_width_in_mbs_minus1
    .ue(rows - 1) // pic_height_in_map_units_minus1
    .bits(0, 1) // frame_mbs_only_flag
    .bits(0, 1) // mb_adaptive_frame_field_flag
    .bits(1, 1) // direct_8x8_inference_flag
    .bits(0, 1) // frame_cropping_flag
    .bits(0, 1); // vui_parameters_present_flag
  return unit(SPS_HEADER, bits);
}

/** CAVLC, one slice group, no weighted prediction (§7.3.2.2). */
function pictureParameterSet(): Buffer {
  const bits = new Bits()
    .ue(0) // pic_parameter_set_id
    .ue(0) // seq_parameter_set_id
    .bits(0, 1) // entropy_coding_mode_flag
    .bits(0, 1) // bottom_field_pic_order_in_frame_present_flag
    .ue(0) // num_slice_groups_minus1
    .ue(0) // num_ref_idx_l0_default_active_minus1
    .ue(0) // num_ref_idx_l1_default_active_minus1
    .bits(0, 1) // weighted_pred_flag
    .bits(0, 2) // weighted_bipred_idc
    .ue(0) // pic_init_qp_minus26, se(v)
    .ue(0) // pic_init_qs_minus26, se(v)
    .ue(0) // chroma_qp_index_offset, se(v)
    .bits(0, 1) // deblocking_filter_control_present_flag
    .bits(0, 1) // constrained_intra_pred_flag
    .bits(0, 1); // redundant_pic_cnt_present_flag
  return unit(PPS_HEADER, bits);
}

/** The header of a slice that is a whole field (§7.3.3). The first field of a frame is an IDR picture. */
function sliceHeader(frame: number, isSecond: boolean, isLower: boolean): Bits {
  const bits = new Bits()
    .ue(0) // first_mb_in_slice
    .ue(7) // slice_type: I, as all slices of the picture
    .ue(0) // pic_parameter_set_id
    .bits(0, 4) // frame_num
    .bits(1, 1) // field_pic_flag
    .bits(isLower ? 1 : 0, 1); // bottom_field_flag
  // idr_pic_id. Consecutive IDR pictures must have different ids.
  if (!isSecond) bits.ue(frame % 2);
  bits.bits(isSecond ? 1 : 0, 4); // pic_order_cnt_lsb
  // adaptive_ref_pic_marking_mode_flag; of an IDR picture no_output_of_prior_pics_flag and long_term_reference_flag.
  bits.bits(0, isSecond ? 1 : 2);
  return bits.ue(0); // slice_qp_delta, se(v)
}

/** A NAL unit of a byte stream, with emulation prevention (annex B, §7.4.1). */
function unit(header: number, content: Bits): Buffer {
  const escaped: number[] = [];
  let zeros = 0;
  // rbsp_trailing_bits: a stop bit, then zeros.
  for (const byte of content.bits(1, 1).align().bytes()) {
    if (zeros >= 2 && byte <= 3) {
      escaped.push(3);
      zeros = 0;
    }
    escaped.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from([0, 0, 0, 1, header, ...escaped]);
}

/** Writes syntax elements: of a fixed number of bits, and ue(v) in Exp-Golomb code (§9.1). Zero has the same code in se(v). */
class Bits {
  readonly #bytes: number[] = [];
  #rest = '';

  bits(value: number, count: number): this {
    this.#rest += value.toString(2).padStart(count, '0');
    for (; this.#rest.length >= 8; this.#rest = this.#rest.slice(8)) {
      this.#bytes.push(Number.parseInt(this.#rest.slice(0, 8), 2));
    }
    return this;
  }

  ue(value: number): this {
    const digits = (value + 1).toString(2).length;
    return this.bits(value + 1, 2 * digits - 1);
  }

  /** Pads the last byte with zeros. */
  align(): this {
    return this.#rest === '' ? this : this.bits(0, 8 - this.#rest.length);
  }

  raw(bytes: Uint8Array): void {
    for (const byte of bytes) this.#bytes.push(byte);
  }

  bytes(): readonly number[] {
    return this.#bytes;
  }
}
