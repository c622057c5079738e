import { join } from 'node:path';
import { runProgram } from '@framelane/test-kit/run-program';

/** A test picture, with a tone where `audio` says so. */
export type ClipPlan = {
  name: string;
  width: number;
  height: number;
  /** Frames a second, as a number or a fraction. */
  rate: string;
  seconds: number;
  audio: { sampleRate: number; channels: number } | null;
  /** Seconds between which the picture is full of noise, which takes more bits than the rest. */
  noise?: { from: number; to: number };
};

/** Makes an MP4 file with ffmpeg. Resolves with its path. */
export async function makeClip(directory: string, plan: ClipPlan): Promise<string> {
  const { name, width, height, rate, seconds, audio } = plan;
  const file = join(directory, `${name}.mp4`);
  const tone = audio && `sine=frequency=440:sample_rate=${audio.sampleRate}`;
  await runProgram('ffmpeg', [
    ...['-nostdin', '-v', 'error', '-y'],
    ...['-f', 'lavfi', '-i', `testsrc2=size=${width}x${height}:rate=${rate}${noiseOf(plan)}`],
    ...(tone ? ['-f', 'lavfi', '-i', tone] : []),
    ...['-t', String(seconds), '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...(audio ? ['-c:a', 'aac', '-ac', String(audio.channels)] : []),
    file,
  ]);
  return file;
}

function noiseOf({ noise }: ClipPlan): string {
  return noise ? `,noise=alls=40:allf=t:enable='between(t,${noise.from},${noise.to})'` : '';
}
