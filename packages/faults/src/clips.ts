import { randomBytes } from 'node:crypto';
import { cachedClip } from '@framelane/test-kit/clips';

/** Files to upload. Tests must not change them. */
export type Clips = {
  /** Two seconds of video and audio, which are transcoded quickly. */
  short: string;
  /** For a transcode that is stopped soon after its start. */
  medium: string;
  /** Keeps an engine busy for some seconds, and is transcoded as a whole. */
  slow: string;
};

/** A short file, and files long enough to be transcoded in pieces. Tests must not change them. */
export type PieceClips = Pick<Clips, 'short'> & {
  /** All of it is encoded. */
  encoded: string;
  /** Its video and audio are copied, and the lower renditions are encoded. */
  copied: string;
  /** Its video could be copied. It has fewer frames than `copied`, because all renditions are encoded in tests that prevent the copy. */
  copyable: string;
};

export async function makeClips(): Promise<Clips> {
  return {
    short: await makeShortClip(),
    medium: await cachedAvi({ size: '854x480', seconds: 8 }),
    slow: await cachedAvi({ size: '1280x720', seconds: 12 }),
  };
}

export async function makePieceClips(): Promise<PieceClips> {
  return {
    short: await makeShortClip(),
    encoded: await cachedMp4({ size: '854x480', rate: 12, seconds: 30 }),
    copied: await passedThrough({ size: '1280x720', rate: 48, seconds: 30 }),
    copyable: await passedThrough({ size: '1280x720', rate: 24, seconds: 30 }),
  };
}

/** Has a key frame every two seconds. */
function passedThrough({
  size,
  rate,
  seconds,
}: {
  size: string;
  rate: number;
  seconds: number;
}): Promise<string> {
  return cachedClip('.mp4', {
    video: `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`,
    audio: `sine=frequency=440:duration=${seconds}`,
    options: [...PASSED_THROUGH_VIDEO, '-g', String(2 * rate), '-c:a', 'aac', '-ac', '2', '-b:a', '96k'],
  });
}

export function makeShortClip(): Promise<string> {
  return cachedAvi({ size: '426x240', seconds: 2 });
}

const PASSED_THROUGH_VIDEO = [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-pix_fmt',
  'yuv420p',
  '-b:v',
  '2M',
  '-maxrate',
  '2M',
  '-bufsize',
  '2M',
];

type Clip = { size: string; seconds: number; quality?: number };

/** As `cachedAvi`, but in a container that can be cut. */
export function cachedMp4({
  size,
  rate = 24,
  seconds,
  quality = 3,
}: Clip & { rate?: number }): Promise<string> {
  return cachedClip('.mp4', {
    video: `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`,
    audio: `sine=frequency=440:duration=${seconds}`,
    options: ['-c:v', 'mpeg4', '-q:v', String(quality), '-g', '24', '-c:a', 'aac', '-shortest'],
  });
}

/**
 * An AVI file with random bytes that players skip, of this size in all. They are in a chunk, because in anything else after the file,
 * ffmpeg searches for further chunks of the video.
 */
export function padded(clip: Buffer, bytes: number): Buffer {
  const head = Buffer.from('JUNK    ');
  const padding = randomBytes(bytes - clip.byteLength - head.byteLength);
  head.writeUInt32LE(padding.byteLength, 4);
  return Buffer.concat([clip, head, padding]);
}

/**
 * A moving test pattern and a tone, in codecs that engines must encode. The video codec has no interlaced frames, so an engine does not
 * have to check for them. `quality` is from 1, the best, to 31.
 */
export function cachedAvi({ size, seconds, quality = 3 }: Clip): Promise<string> {
  return cachedClip('.avi', {
    video: `testsrc2=size=${size}:rate=24:duration=${seconds}`,
    audio: `sine=frequency=440:duration=${seconds}`,
    options: ['-c:v', 'msmpeg4', '-q:v', String(quality), '-c:a', 'libmp3lame', '-shortest'],
  });
}
