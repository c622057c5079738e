/** Reads numbers of bits, the highest bit first. */
class Bits {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Throws a RangeError at the end. At most 32 bits. */
  read(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      value = 2 * value + ((this.#bytes.readUInt8(this.#at >> 3) >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  isSet(): boolean {
    return this.read(1) === 1;
  }
}

/** The value that lets a frame decide whether it uses tools for screen content. */
const CHOSEN_BY_FRAMES = 2;

/**
 * What the payload of a sequence header (AV1 §5.5) says about the picture and what decoders must be capable of: everything except coding tools, in a form
 * to compare. Throws if it is truncated, or has another profile than Main or a model of the decoder's buffer, which the encoders of ffmpeg do not write.
 */
export function pictureOf(header: Buffer): string {
  const bits = new Bits(header);
  const [profile, isStill, isReduced] = [bits.read(3), bits.isSet(), bits.isSet()];
  if (profile !== 0 || isStill || isReduced) throw new Error('The video does not have the profile Main');
  if (bits.isSet()) throw new Error('The sequence header has times, which are not read');
  const points = readOperatingPoints(bits);
  const [widthBits, heightBits] = [bits.read(4) + 1, bits.read(4) + 1];
  const size = [bits.read(widthBits), bits.read(heightBits)];
  skipTools(bits);
  return JSON.stringify({ points, size, colour: readColour(bits) });
}

/** The level and the tier of each operating point. */
function readOperatingPoints(bits: Bits): number[][] {
  const hasDelays = bits.isSet();
  return Array.from({ length: bits.read(5) + 1 }, () => {
    const point = bits.read(12);
    const level = bits.read(5);
    const tier = level > 7 ? bits.read(1) : 0;
    if (hasDelays && bits.isSet()) bits.read(4);
    return [point, level, tier];
  });
}

/** From the identifiers of frames to `enable_restoration`. */
function skipTools(bits: Bits): void {
  if (bits.isSet()) bits.read(7); // lengths of the identifiers
  bits.read(7); // blocks, prediction and motion
  const hasOrder = bits.isSet();
  if (hasOrder) bits.read(2);
  const screenContent = bits.isSet() ? CHOSEN_BY_FRAMES : bits.read(1);
  if (screenContent > 0 && !bits.isSet()) bits.read(1);
  if (hasOrder) bits.read(3); // length of the order
  bits.read(3);
}

/** §5.5.2 for the profile Main: the depth, whether it is monochrome, the tags, the range and the position of chroma. */
function readColour(bits: Bits): number[] {
  const [isHigh, isMonochrome] = [bits.read(1), bits.read(1)];
  const tags = bits.isSet() ? [bits.read(8), bits.read(8), bits.read(8)] : [];
  const range = bits.read(1);
  return [isHigh, isMonochrome, range, ...(isMonochrome === 1 ? [] : [bits.read(2)]), ...tags];
}
