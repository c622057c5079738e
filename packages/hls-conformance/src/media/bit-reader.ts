/** Reads bits, the most significant of each byte first. Reading beyond the end throws a RangeError. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) value = value * 2 + this.#bit();
    return value;
  }

  flag(): boolean {
    return this.#bit() === 1;
  }

  /** ue(v) of ISO/IEC 14496-10 §9.1. */
  unsigned(): number {
    let zeros = 0;
    while (this.#bit() === 0) zeros += 1;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** se(v) of ISO/IEC 14496-10 §9.1.1. */
  signed(): number {
    const code = this.unsigned();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }

  #bit(): number {
    const byte = this.#bytes[this.#at >> 3];
    if (byte === undefined) throw new RangeError('there are no more bits');
    const bit = (byte >> (7 - (this.#at & 7))) & 1;
    this.#at += 1;
    return bit;
  }
}
