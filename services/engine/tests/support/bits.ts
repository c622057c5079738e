/** Reads bits and writes them to a copy, with some of them changed. */
export class BitCopy {
  readonly #source: Buffer;
  readonly #written: number[] = [];
  #at = 0;

  constructor(source: Buffer) {
    this.#source = source;
  }

  /** Copies the next bits, and returns their value. */
  copy(bits: number): number {
    const value = this.skip(bits);
    this.put(bits, value);
    return value;
  }

  skip(bits: number): number {
    let value = 0;
    for (let bit = 0; bit < bits; bit += 1) {
      value = value * 2 + (((this.#source[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  put(bits: number, value: number): void {
    for (let bit = bits - 1; bit >= 0; bit -= 1) this.#written.push(Math.floor(value / 2 ** bit) % 2);
  }

  /** Copies an Exp-Golomb code, `ue(v)` of ITU-T H.265 §9.2, and returns its value. */
  copyCode(): number {
    const value = this.skipCode();
    this.putCode(value);
    return value;
  }

  skipCode(): number {
    let zeros = 0;
    while (this.skip(1) === 0) zeros += 1;
    return 2 ** zeros - 1 + this.skip(zeros);
  }

  putCode(value: number): void {
    const zeros = Math.floor(Math.log2(value + 1));
    this.put(zeros, 0);
    this.put(zeros + 1, value + 1);
  }

  /** Copies the other bits. Returns the copy, with zeros after its last bit. */
  finish(): Buffer {
    while (this.#at < this.#source.length * 8) this.copy(1);
    const bytes = Buffer.alloc(Math.ceil(this.#written.length / 8));
    for (const [at, bit] of this.#written.entries())
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (bit << (7 - (at & 7)));
    return bytes;
  }
}
