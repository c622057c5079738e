import { randomNumbers } from './mutations.ts';

/** First bytes of a file, first byte of a frame of the highest mode, and bytes of such a frame (RFC 4867 §5). */
const KINDS = {
  amr_nb: { magic: '#!AMR\n', head: 0x3c, bytes: 32 },
  amr_wb: { magic: '#!AMR-WB\n', head: 0x44, bytes: 61 },
};
const FRAMES_A_SECOND = 50;

/**
 * A file of what telephones record. There is no free encoder in ffmpeg; its frames hold any bits, which a decoder takes for
 * a rough noise.
 */
export function telephoneSpeech(kind: keyof typeof KINDS, seconds: number): Buffer {
  const { magic, head, bytes } = KINDS[kind];
  const random = randomNumbers(1);
  const frames = Array.from({ length: FRAMES_A_SECOND * seconds }, () =>
    Buffer.from([head, ...Array.from({ length: bytes - 1 }, () => Math.floor(random() * 256))]),
  );
  return Buffer.concat([Buffer.from(magic), ...frames]);
}
