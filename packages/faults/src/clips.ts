import { cachedClip } from '@framelane/test-kit/clips';

/** Files to upload. Tests must not change them. */
export type Clips = {
  /** Two seconds of video and audio: transcoded at once. */
  short: string;
  /** Keeps an engine busy for some seconds. */
  long: string;
};

export async function makeClips(): Promise<Clips> {
  return {
    short: await cachedAvi({ size: '426x240', seconds: 2 }),
    long: await cachedAvi({ size: '1280x720', seconds: 12 }),
  };
}

/** A moving test pattern and a tone, in codecs that engines must encode. `quality` is from 1, the best, to 31. */
export function cachedAvi({
  size,
  seconds,
  quality = 3,
}: {
  size: string;
  seconds: number;
  quality?: number;
}) {
  return cachedClip('.avi', {
    video: `testsrc2=size=${size}:rate=24:duration=${seconds}`,
    audio: `sine=frequency=440:duration=${seconds}`,
    options: ['-c:v', 'mpeg4', '-q:v', String(quality), '-c:a', 'libmp3lame', '-shortest'],
  });
}
