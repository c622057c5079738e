const HEADER_BYTES = 8;

/** The input of the current run, in memory that another thread can read while the parser hangs, or after it has ended the thread. */
export class SharedInput {
  readonly memory: SharedArrayBuffer;
  readonly #counters: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#counters = new Int32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, HEADER_BYTES);
  }

  static ofSize(maxBytes: number): SharedInput {
    return new SharedInput(new SharedArrayBuffer(HEADER_BYTES + maxBytes));
  }

  /** The number of runs so far. */
  get runs(): number {
    return Atomics.load(this.#counters, 0);
  }

  set(input: Buffer): void {
    this.#bytes.set(input.subarray(0, this.#bytes.length));
    Atomics.store(this.#counters, 1, Math.min(input.length, this.#bytes.length));
    Atomics.add(this.#counters, 0, 1);
  }

  get(): Buffer {
    return Buffer.from(this.#bytes.slice(0, Atomics.load(this.#counters, 1)));
  }
}
