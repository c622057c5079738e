import { Random } from '@framelane/test-kit/random';

/** Magic number of a file, and header byte and size of a frame of the highest mode (RFC 4867 §5). */
const KINDS = {
  amr_nb: { magic: '#!AMR\n', head: 0x3c, bytes: 32 },
  amr_wb: { magic: '#!AMR-WB\n', head: 0x44, bytes: 61 },
};
const FRAMES_PER_SECOND = 50;

/** An AMR file with random frames, which decode to noise. ffmpeg itself has no encoder for AMR. */
export function telephoneSpeech(kind: keyof typeof KINDS, seconds: number): Buffer {
  const { magic, head, bytes } = KINDS[kind];
  const random = new Random(1);
  const frames = Array.from({ length: FRAMES_PER_SECOND * seconds }, () =>
    Buffer.from([head, ...Array.from({ length: bytes - 1 }, () => random.below(256))]),
  );
  return Buffer.concat([Buffer.from(magic), ...frames]);
}
