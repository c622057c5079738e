import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { runProgram } from './run-program.ts';

/** Shared by all suites and kept between runs. */
const CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/test-clips');

/** `video` and `audio` are sources of lavfi. `options` follow them: further inputs, and options of the output. */
export type Clip = { video?: string; audio?: string; options?: readonly string[] };

const FAST_VIDEO = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

/** Makes a media file of test patterns and tones, and resolves with its path. */
export async function makeClip(path: string, clip: Clip): Promise<string> {
  const args = argumentsFor(clip);
  // Not cached if an argument names a temporary file: its content can differ in the next run.
  if (args.some((argument) => argument.includes(tmpdir()))) await runProgram('ffmpeg', [...args, path]);
  else await copyFile(await cachedClip(extname(path), clip), path);
  return path;
}

/** A clip in the cache, which is made if it is missing. It must not be changed. */
export async function cachedClip(extension: string, clip: Clip): Promise<string> {
  const args = argumentsFor(clip);
  ffmpegVersion ??= readFfmpegVersion();
  const key = createHash('sha256')
    .update(JSON.stringify([await ffmpegVersion, extension, args]))
    .digest('hex');
  const path = join(CACHE, key + extension);
  if (existsSync(path)) return path;
  await mkdir(CACHE, { recursive: true });
  const unfinished = join(CACHE, randomUUID() + extension);
  await runProgram('ffmpeg', [...args, unfinished]);
  // If another worker has made the same clip, the rename replaces it.
  await rename(unfinished, path);
  return path;
}

function argumentsFor({ video, audio, options = [] }: Clip): string[] {
  const inputs = [video, audio].flatMap((source) =>
    source === undefined ? [] : ['-f', 'lavfi', '-i', source],
  );
  const codec = video === undefined ? [] : FAST_VIDEO;
  return ['-v', 'error', '-nostdin', '-y', ...inputs, ...codec, ...options];
}

let ffmpegVersion: Promise<string> | undefined;

async function readFfmpegVersion(): Promise<string> {
  return (await runProgram('ffmpeg', ['-version'])).stdout;
}
