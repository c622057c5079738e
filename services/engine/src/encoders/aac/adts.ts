import { AAC_FRAME_SAMPLES } from '../../source/audio-scan.ts';
import { IncompleteUnitError, type StreamConfiguration } from '../stream-reader.ts';

const ADTS_HEADER_BYTES = 7;
const NOTHING = Buffer.alloc(0);

/** RFC 6381 codec string of AAC: the object type of the first ADTS header of a stream. Throws if there is no header. */
export function codecString(stream: Buffer): string {
  const [sync = 0, version = 0, profile = 0] = stream;
  if (sync !== 0xff || (version & 0xf6) !== 0xf0) {
    throw new Error('The segment does not begin with an ADTS header');
  }
  return `mp4a.40.${(profile >> 6) + 1}`;
}

/** Finds the headers of ADTS frames (ISO/IEC 14496-3 §1.A.2.2): the profile, the sample rate and the channels. */
export class AdtsHeaders implements StreamConfiguration {
  readonly #found = new Set<string>();
  /** The beginning of a header. */
  #rest: Buffer = NOTHING;
  /** Bytes of the current frame that follow. */
  #skipped = 0;

  get found(): ReadonlySet<string> {
    return this.#found;
  }

  /** A frame begins with each PES packet, as ffmpeg writes them. */
  push(bytes: Buffer, beginsUnit: boolean): void {
    if (beginsUnit) [this.#rest, this.#skipped] = [NOTHING, 0];
    const stream = Buffer.concat([this.#rest, bytes]);
    let at = this.#skipped;
    while (at + ADTS_HEADER_BYTES <= stream.length) {
      // Without the private bit and the flags that have no effect on decoding.
      const configuration = stream.readUInt16BE(at + 2) & 0xfdc0;
      if (this.#found.size < 2) this.#found.add(configuration.toString(16));
      // The frame length: 13 bits within three bytes.
      at += Math.max(ADTS_HEADER_BYTES, (stream.readUIntBE(at + 3, 3) >> 5) & 0x1fff);
    }
    this.#skipped = Math.max(0, at - stream.length);
    this.#rest = Buffer.from(stream.subarray(at));
  }
}

/** Sample rates of AAC by their index (ISO/IEC 14496-3 table 1.18). */
const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** Duration of the ADTS frame that a stream begins with, in seconds. */
export function frameSeconds(stream: Buffer): number {
  const sampleRate = SAMPLE_RATES[(stream.readUInt8(2) >> 2) & 0x0f] ?? 0;
  const blocks = (stream.readUInt8(6) & 0x03) + 1;
  return (blocks * AAC_FRAME_SAMPLES) / sampleRate;
}

/** Duration of complete ADTS frames in seconds (ISO/IEC 14496-3 §1.A.2). Throws if the last frame is incomplete. */
export function audioSeconds(frames: Buffer): number {
  let seconds = 0;
  let at = 0;
  while (at + ADTS_HEADER_BYTES <= frames.length && frames.readUInt16BE(at) >= 0xfff0) {
    seconds += frameSeconds(frames.subarray(at));
    // The frame length: 13 bits within three bytes.
    at += Math.max(ADTS_HEADER_BYTES, (frames.readUIntBE(at + 3, 3) >> 5) & 0x1fff);
  }
  if (at !== frames.length) throw new IncompleteUnitError('The last audio frame is incomplete');
  return seconds;
}
