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

/** The pixels of an image, with three bytes each: red, green, blue. */
export async function imagePixels(path: string): Promise<{ width: number; height: number; pixels: Buffer }> {
  const image = await decoded('-i', path, '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'ppm', '-');
  // The head of a PPM file, such as `P6\n320 180\n255\n`.
  const [head = '', width, height] = /^P6\s(\d+)\s(\d+)\s255\s/.exec(image.toString('latin1', 0, 32)) ?? [];
  return { width: Number(width), height: Number(height), pixels: image.subarray(head.length) };
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
  return [await readFile(frame), samplesIn(bytes)];
}

const GREY_FRAMES = ['-vsync', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'gray'];

/** All frames of a file in grey, with one byte per pixel. */
export async function greyFrames(path: string, width: number, height: number): Promise<Buffer[]> {
  return framesIn(await decoded('-i', path, ...GREY_FRAMES, '-'), width * height);
}

/** A file with video, and the size of its frames. */
type SizedVideo = { path: string; width: number; height: number };
/** A file with audio, and options of the output, such as filters. */
type FilteredAudio = { path: string; options: readonly string[] };

/**
 * All frames of a file in grey, with one byte per pixel, and the interleaved samples of a file, -1 to 1; without a file there are none. One run of
 * ffmpeg decodes both.
 */
export async function greyFramesAndSamples(
  video: SizedVideo | undefined,
  audio: FilteredAudio | undefined,
): Promise<[Buffer[], Float32Array]> {
  const raw = video && `${video.path}.gray`;
  const bytes = await decoded(
    ...['-y', '-copyts', ...[video, audio].flatMap((file) => (file ? ['-i', file.path] : []))],
    ...(raw ? ['-map', '0:v', ...GREY_FRAMES, raw] : []),
    ...(audio ? ['-map', `${video ? 1 : 0}:a`, ...audio.options, '-f', 'f32le', '-'] : []),
  );
  const frames = video && raw ? framesIn(await readFile(raw), video.width * video.height) : [];
  return [frames, samplesIn(bytes)];
}

/** The interleaved audio samples of a file, -1 to 1. */
export async function samples(path: string, ...options: string[]): Promise<Float32Array> {
  return samplesIn(await decoded('-i', path, '-vn', ...options, '-f', 'f32le', '-'));
}

function framesIn(pixels: Buffer, frameBytes: number): Buffer[] {
  return Array.from({ length: pixels.length / frameBytes }, (_, at) =>
    pixels.subarray(at * frameBytes, (at + 1) * frameBytes),
  );
}

function samplesIn(bytes: Buffer): Float32Array {
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
