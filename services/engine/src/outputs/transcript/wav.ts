import { SAMPLE_RATE } from './quiet-cut.ts';

export const WAV_HEADER_BYTES = 44;
export const SAMPLE_BYTES = 2;

/** Makes a buffer with mono samples of 16 bits after `WAV_HEADER_BYTES` a WAV file (RIFF, PCM). */
export function writeWavHeader(wav: Buffer): void {
  const bytes = wav.length - WAV_HEADER_BYTES;
  wav.write('RIFF', 0);
  wav.writeUInt32LE(wav.length - 8, 4);
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
}
