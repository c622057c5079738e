import type { StreamConfiguration } from '../stream-reader.ts';
import { SEQUENCE_PARAMETER_SET } from './nal-unit-types.ts';

const START_CODE = Buffer.from([0, 0, 1]);
/** Bytes of a start code and the type of a NAL unit. */
const UNIT_HEAD_BYTES = START_CODE.length + 1;
/** More than any parameter set has. The rest of a longer one is not compared. */
const MAX_SET_BYTES = 4096;

const NOTHING = Buffer.alloc(0);

/** Finds the sequence parameter sets of an H.264 byte stream (annex B), wherever they are. */
export class ParameterSets implements StreamConfiguration {
  readonly #found = new Set<string>();
  /** The beginning of a parameter set, or the bytes in which a start code may begin. */
  #rest: Buffer = NOTHING;
  #isInSet = false;

  get found(): ReadonlySet<string> {
    return this.#found;
  }

  push(bytes: Buffer): void {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const start = rest.indexOf(START_CODE);
      if (this.#isInSet && (start !== -1 || rest.length > MAX_SET_BYTES)) {
        this.#add(rest.subarray(0, start === -1 ? MAX_SET_BYTES : Math.min(start, MAX_SET_BYTES)));
        this.#isInSet = false;
      }
      if (start === -1 || start + UNIT_HEAD_BYTES > rest.length) break;
      this.#isInSet = (rest.readUInt8(start + START_CODE.length) & 0x1f) === SEQUENCE_PARAMETER_SET;
      rest = rest.subarray(start + UNIT_HEAD_BYTES);
    }
    this.#rest = this.#isInSet ? Buffer.from(rest) : openEnd(rest);
  }

  #add(set: Buffer): void {
    // Zero bytes may follow a NAL unit, whose own last byte is not zero.
    const end = set.findLastIndex((byte) => byte !== 0) + 1;
    if (this.#found.size < 2) this.#found.add(set.toString('hex', 0, end));
  }
}

/** The last bytes, if a start code may continue in the next ones. A copy, as the reader reuses its buffers. */
function openEnd(bytes: Buffer): Buffer {
  const last = bytes.at(-1) ?? 0;
  return last <= 1 ? Buffer.from(bytes.subarray(1 - UNIT_HEAD_BYTES)) : NOTHING;
}
