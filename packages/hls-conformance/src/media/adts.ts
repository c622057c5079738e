/** The configuration in ADTS headers (ISO/IEC 14496-3 §1.A.2.2). */
export type AacConfig = { objectType: number; sampleRate: number; channels: number };

/** The AAC frames in some bytes. */
export type AdtsFrames = { count: number; samples: number; config: AacConfig | null; changes: boolean };

const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const HEADER_BYTES = 7;
export const SAMPLES_PER_FRAME = 1024;

/** Counts the frames of an ADTS stream. A frame may begin in one chunk and end in the next. */
export class AdtsReader {
  #rest: Buffer = Buffer.alloc(0);
  #config: AacConfig | null = null;

  get hasUnfinishedFrame(): boolean {
    return this.#rest.length > 0;
  }

  /** The frames that are complete now. Throws if a frame does not begin with a header. */
  push(data: Buffer): AdtsFrames {
    const bytes = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    const found: AdtsFrames = { count: 0, samples: 0, config: null, changes: false };
    let at = 0;
    while (at + HEADER_BYTES <= bytes.length) {
      const { config, length, samples } = readHeader(bytes, at);
      if (at + length > bytes.length) break;
      found.changes ||= this.#config !== null && !sameConfig(this.#config, config);
      this.#config = config;
      found.count += 1;
      found.samples += samples;
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return { ...found, config: this.#config };
  }

  /** Throws if the last frame is truncated. */
  end(): void {
    if (this.#rest.length > 0) throw new Error('the last AAC frame is truncated');
  }
}

/** RFC 6381 name of a stream, by its object type. */
export function aacCodec({ objectType }: AacConfig): string {
  return `mp4a.40.${objectType}`;
}

function readHeader(bytes: Buffer, at: number): { config: AacConfig; length: number; samples: number } {
  if ((bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0)
    throw new Error('a frame does not begin with an ADTS header');
  const kind = bytes.readUInt16BE(at + 2);
  const length = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
  const sampleRate = SAMPLE_RATES[(kind >> 10) & 0x0f];
  if (length < HEADER_BYTES || sampleRate === undefined) throw new Error('an ADTS header is invalid');
  return {
    config: { objectType: (kind >> 14) + 1, sampleRate, channels: (kind >> 6) & 0x07 },
    length,
    samples: SAMPLES_PER_FRAME * (1 + (bytes.readUInt8(at + 6) & 0x03)),
  };
}

function sameConfig(a: AacConfig, b: AacConfig): boolean {
  return a.objectType === b.objectType && a.sampleRate === b.sampleRate && a.channels === b.channels;
}
