import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The log of ffmpeg's filters for a file. */
export async function ffmpegReport(...args: string[]): Promise<string> {
  const { stderr } = await run('ffmpeg', ['-hide_banner', '-nostdin', ...args, '-f', 'null', '-']);
  return stderr;
}

/** The parsed JSON output of ffprobe. */
export async function ffprobe<T>(...args: string[]): Promise<T> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-of', 'json', ...args], {
    maxBuffer: 64 * 1024 ** 2,
  });
  return JSON.parse(stdout) as T;
}

/** The first frame of a file, with three bytes per pixel: red, green, blue. */
export async function firstFrame(path: string): Promise<Buffer> {
  return frameAt(path, 0);
}

/** A frame of a file by its number from zero, with three bytes per pixel: red, green, blue. */
export async function frameAt(path: string, number: number): Promise<Buffer> {
  const filter = ['-vf', `trim=start_frame=${number}`];
  return decoded('-i', path, ...filter, '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-');
}

/**
 * The first frame of a video as `firstFrame` has it, and the samples of an audio file in stereo, with one run of ffmpeg: each start takes
 * time.
 */
export async function firstFrameAndSamples(video: string, audio: string): Promise<[Buffer, Float32Array]> {
  const frame = `${video}.rgb`;
  const bytes = await decoded(
    ...['-y', '-i', video, '-i', audio],
    ...['-map', '0:v', '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', frame],
    ...['-map', '1:a', '-ac', '2', '-f', 'f32le', '-'],
  );
  return [await readFile(frame), new Float32Array(new Uint8Array(bytes).buffer)];
}

/** All frames of a file in grey, with one byte per pixel. */
export async function greyFrames(path: string, width: number, height: number): Promise<Buffer[]> {
  const raw = ['-vsync', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'gray', '-'];
  const pixels = await decoded('-i', path, ...raw);
  return Array.from({ length: pixels.length / (width * height) }, (_, at) =>
    pixels.subarray(at * width * height, (at + 1) * width * height),
  );
}

/** The interleaved audio samples of a file, -1 to 1. */
export async function samples(path: string, ...options: string[]): Promise<Float32Array> {
  const bytes = await decoded('-i', path, '-vn', ...options, '-f', 'f32le', '-');
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** The standard output of ffmpeg. */
async function decoded(...args: string[]): Promise<Buffer> {
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-nostdin', ...args], {
    encoding: 'buffer',
    maxBuffer: 64 * 1024 ** 2,
  });
  return stdout;
}
