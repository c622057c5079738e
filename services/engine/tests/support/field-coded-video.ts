/** A moving grey pattern. */
type Pattern = {
  /** Pixels, multiples of 16 and 32. */
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

const SEQUENCE = 0x67;
const PICTURE_SET = 0x68;
const IDR_SLICE = 0x65;
const SLICE = 0x61;
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
    if (!isSecond) units.push(sequenceSet(columns, rows), pictureSet());
    const isLower = isSecond === (first === 'upper');
    const slice = sliceHead(field >> 1, isSecond, isLower);
    for (let at = 0; at < columns * rows; at += 1) {
      const left = (at % columns) * BLOCK;
      const line = Buffer.from(Array.from({ length: BLOCK }, (_, x) => luma(left + x, field)));
      slice.unsigned(I_PCM).align();
      slice.raw(Buffer.concat([...Array.from({ length: BLOCK }, () => line), NEUTRAL_CHROMA]));
    }
    units.push(unit(isSecond ? SLICE : IDR_SLICE, slice));
  }
  return Buffer.concat(units);
}

/** High profile, level 3, 4:2:0, picture order count type 0, one reference frame, fields allowed. */
function sequenceSet(columns: number, rows: number): Buffer {
  const bits = new Bits().bits(100, 8).bits(0, 8).bits(30, 8);
  bits.unsigned(0).unsigned(1).unsigned(0).unsigned(0).bits(0, 2);
  bits.unsigned(0).unsigned(0).unsigned(0).unsigned(1).bits(0, 1);
  bits.unsigned(columns - 1).unsigned(rows - 1);
  return unit(SEQUENCE, bits.bits(0, 2).bits(1, 1).bits(0, 2));
}

/** CAVLC, one slice group, no weighted prediction. */
function pictureSet(): Buffer {
  const bits = new Bits().unsigned(0).unsigned(0).bits(0, 2).unsigned(0).unsigned(0).unsigned(0).bits(0, 3);
  return unit(PICTURE_SET, bits.unsigned(0).unsigned(0).unsigned(0).bits(0, 3));
}

function sliceHead(picture: number, isSecond: boolean, isLower: boolean): Bits {
  const bits = new Bits()
    .unsigned(0)
    .unsigned(7)
    .unsigned(0)
    .bits(0, 4)
    .bits(1, 1)
    .bits(isLower ? 1 : 0, 1);
  // Consecutive IDR pictures must have different ids.
  if (!isSecond) bits.unsigned(picture % 2);
  bits.bits(isSecond ? 1 : 0, 4);
  return bits.bits(0, isSecond ? 1 : 2).unsigned(0);
}

/** A NAL unit of a byte stream, with emulation prevention (annex B, §7.4.1). */
function unit(header: number, content: Bits): Buffer {
  const escaped: number[] = [];
  let zeros = 0;
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

/** Writes bits, and numbers in Exp-Golomb code (§9.1). */
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

  unsigned(value: number): this {
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
