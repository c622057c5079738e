import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';

/** A test pattern, and a tone if `audio` is not null. */
export type ClipPlan = {
  name: string;
  width: number;
  height: number;
  /** Frames a second, as a number or a fraction. */
  rate: string;
  seconds: number;
  audio: { sampleRate: number; channels: number } | null;
  /** Adds noise between two times, in seconds: it needs more bits than the rest. */
  noise?: { from: number; to: number };
};

/** Makes an MP4 file with ffmpeg. Resolves with its path. */
export function makeMp4(directory: string, plan: ClipPlan): Promise<string> {
  const { name, width, height, rate, seconds, audio } = plan;
  return makeClip(join(directory, `${name}.mp4`), {
    video: `testsrc2=size=${width}x${height}:rate=${rate}${noiseOf(plan)}`,
    ...(audio && { audio: `sine=frequency=440:sample_rate=${audio.sampleRate}` }),
    options: ['-t', String(seconds), ...(audio ? ['-c:a', 'aac', '-ac', String(audio.channels)] : [])],
  });
}

/** Copies an MP4 file and adds a box of random bytes that players skip (ISO/IEC 14496-12 §8.1.2). Resolves with its path. */
export async function pad(path: string, bytes: number): Promise<string> {
  const box = randomBytes(bytes);
  box.writeUInt32BE(bytes, 0);
  box.write('free', 4, 'latin1');
  const padded = path.replace(/\.mp4$/, '-padded.mp4');
  await writeFile(padded, Buffer.concat([await readFile(path), box]));
  return padded;
}

function noiseOf({ noise }: ClipPlan): string {
  return noise ? `,noise=alls=40:allf=t:enable='between(t,${noise.from},${noise.to})'` : '';
}
