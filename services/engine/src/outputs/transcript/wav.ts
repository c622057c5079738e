import { SAMPLE_RATE } from './quiet-cut.ts';

const HEADER_BYTES = 44;
export const SAMPLE_BYTES = 2;

/** A WAV file (RIFF, PCM) of mono samples with 16 bits. */
export function wavOf(samples: Int16Array): Buffer {
  const bytes = samples.length * SAMPLE_BYTES;
  const wav = Buffer.alloc(HEADER_BYTES + bytes);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(SAMPLE_RATE, 24);
  wav.writeUInt32LE(SAMPLE_RATE * SAMPLE_BYTES, 28);
  wav.writeUInt16LE(SAMPLE_BYTES, 32);
  wav.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes, 40);
  // All machines that run Framelane are little-endian, as WAV is.
  Buffer.from(samples.buffer, samples.byteOffset, bytes).copy(wav, HEADER_BYTES);
  return wav;
}
