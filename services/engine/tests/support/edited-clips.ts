import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { inputOptions } from '../../src/ffmpeg/arguments.ts';
import { audioGraphs } from '../../src/ffmpeg/filter-graph.ts';
import { IMAGE_NAMES } from '../../src/outputs/images/image-filters.ts';
import { imagesArguments } from '../../src/outputs/images/images-task.ts';
import { SOURCE_PATH } from '../../src/sandbox/job-folder.ts';
import { type Edit, withEditLists } from './edit-lists.ts';

const run = promisify(execFile);
const LONG_OUTPUT = { encoding: 'buffer', maxBuffer: 64 * 1024 ** 2 } as const;

export const RATE = 25;
export const SECONDS = 24;

/** The width and height of counted frames. */
export const COUNTED_SIZE = 64;

/** The pitch of the tone at a second of the audio, in hertz. */
const LOWEST_PITCH = 400;
const PITCH_PER_SECOND = 100;

/** Frames that show their number in three columns, as digits of base 15, and a tone whose pitch rises with time. */
export const COUNTED: Required<Omit<Clip, 'options'>> = countedClip();

/** The same of any rate and duration. */
export function countedClip({
  rate = String(RATE),
  seconds = SECONDS,
} = {}): Required<Omit<Clip, 'options'>> {
  return {
    video:
      `color=s=${COUNTED_SIZE}x${COUNTED_SIZE}:r=${rate}:d=${seconds},format=yuv420p,` +
      String.raw`geq=lum='24+14*if(lt(X\,21)\,floor(N/225)\,if(lt(X\,42)\,mod(floor(N/15)\,15)\,mod(N\,15)))':cb=128:cr=128`,
    audio: `aevalsrc='0.3*sin(2*PI*(${LOWEST_PITCH}*t+${PITCH_PER_SECOND / 2}*t*t))':s=48000:d=${seconds}`,
  };
}

/** The numbers that decoded frames show, in grey. */
export function shownNumbers(frames: readonly Buffer[]): number[] {
  return frames.map((frame) => 225 * digitAt(frame, 10) + 15 * digitAt(frame, 31) + digitAt(frame, 53));
}

/** Grey has the full range of values. */
const FULL_RANGE = 255 / 219;

/** The average of the middle of a column. */
function digitAt(frame: Buffer, column: number): number {
  const pixels = Array.from(
    { length: 32 * 9 },
    (_, at) => frame[64 * (16 + Math.floor(at / 9)) + column - 4 + (at % 9)] ?? 0,
  );
  const average = pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length;
  return Math.round((average / FULL_RANGE - 8) / 14);
}

export const BT709 = ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'];

/** AAC begins with one frame of priming samples. */
const AUDIO_DELAY = 1024 / 48_000;

const GOPS = ['-preset', 'veryfast', '-g', '50', '-bf'];
/** The options of each clip, and the number of frames by which its B-frames delay it. */
const CLIPS = {
  'without B-frames': { delay: 0, options: [...GOPS, '0'] },
  'with B-frames': { delay: 2, options: [...GOPS, '2'] },
  'with open GOPs': {
    delay: 2,
    options: [...GOPS, '3', '-x264-params', 'open-gop=1:b-pyramid=normal:b-adapt=0'],
  },
  'in fragments': {
    delay: 2,
    options: [...GOPS, '2', '-movflags', '+frag_keyframe+default_base_moof+delay_moov'],
  },
  'in AV1': { delay: 0, options: ['-c:v', 'libaom-av1', '-cpu-used', '8', '-usage', 'realtime', '-g', '50'] },
  'at 29.97 frames a second': { delay: 2, options: [...GOPS, '2', '-vf', 'fps=30000/1001'] },
};
export type ClipName = keyof typeof CLIPS;

/** A clip whose frames are known by their checksums. */
export class EditedClip {
  static readonly #made = new Map<ClipName, EditedClip>();
  readonly #file: Buffer;
  /** Seconds from the beginning of the media to the first frame. */
  readonly #delay: number;
  readonly #numbers: ReadonlyMap<string, number>;

  private constructor(file: Buffer, delay: number, numbers: ReadonlyMap<string, number>) {
    this.#file = file;
    this.#delay = delay;
    this.#numbers = numbers;
  }

  /** @param path where the clip may be written */
  static async make(name: ClipName, path: string): Promise<EditedClip> {
    const known = EditedClip.#made.get(name);
    if (known) return known;
    const { delay, options } = CLIPS[name];
    await makeClip(path, { ...COUNTED, options: [...BT709, '-c:a', 'aac', ...options] });
    const numbers = new Map((await frameChecksums(path)).map((checksum, number) => [checksum, number]));
    const clip = new EditedClip(await readFile(path), delay / RATE, numbers);
    EditedClip.#made.set(name, clip);
    return clip;
  }

  /** Writes the clip with other edit lists. Times are in seconds from the first frame and the first sample. */
  async write(path: string, { video, audio }: Record<'video' | 'audio', readonly Edit[]>): Promise<void> {
    const delayed = (edits: readonly Edit[], delay: number) =>
      edits.map((edit) => ({ ...edit, from: edit.from === null ? null : edit.from + delay }));
    const lists = [delayed(video, this.#delay), delayed(audio, AUDIO_DELAY)];
    await writeFile(path, withEditLists(this.#file, lists));
  }

  /** The numbers of frames; NaN for a frame that is not one of the clip. */
  numbersOf(checksums: readonly string[]): number[] {
    return checksums.map((checksum) => this.#numbers.get(checksum) ?? Number.NaN);
  }
}

/** The checksums of the frames that ffmpeg displays, at a constant rate. */
export async function frameChecksums(path: string): Promise<string[]> {
  const frames = ['-map', '0:v', '-vf', `fps=${RATE}:start_time=0`, '-f', 'framehash', '-hash', 'murmur3'];
  const { stdout } = await run('ffmpeg', ['-v', 'fatal', '-i', path, ...frames, '-'], LONG_OUTPUT);
  return checksumsIn(stdout);
}

/** The checksums of the frames that the images of a long video are chosen from. */
export async function imageChecksums(directory: string, plan: EncodePlan): Promise<string[]> {
  const { inputOptions: options, outputs } = imagesArguments(plan, { keyFramesOnly: true }, { threads: 1 });
  const [candidates] = outputs;
  const { stdout } = await run(
    'ffmpeg',
    [
      ...[...options, '-i', `${directory}/${SOURCE_PATH}`],
      ...[
        ...(candidates?.options ?? []),
        '-vsync',
        'passthrough',
        '-f',
        'framehash',
        '-hash',
        'murmur3',
        '-',
      ],
      ...IMAGE_NAMES.flatMap((name) => ['-map', `[${name}]`, '-f', 'null', '-']),
    ],
    LONG_OUTPUT,
  );
  return checksumsIn(stdout);
}

function checksumsIn(output: Buffer): string[] {
  const lines = output
    .toString()
    .split('\n')
    .filter((line) => /^\d/.test(line));
  return lines.map((line) => line.split(',').at(-1)?.trim() ?? '');
}

/** Seconds between two measurements of the pitch. */
export const PITCH_STEP = 0.1;

/** For each tenth of a second of the audio that a plan produces, the second of the clip that is heard. NaN for silence. */
export async function heardSeconds(directory: string, plan: EncodePlan): Promise<number[]> {
  const { stdout } = await run(
    'ffmpeg',
    [
      ...[...inputOptions(plan, 1), '-v', 'fatal', '-i', `${directory}/${SOURCE_PATH}`],
      ...[
        ...audioGraphs(plan).flatMap((graph) => ['-filter_complex', graph]),
        '-map',
        `[${plan.audio[0]?.name}]`,
      ],
      ...['-f', 'f32le', '-'],
    ],
    LONG_OUTPUT,
  );
  return secondsHeardIn(new Float32Array(new Uint8Array(stdout).buffer));
}

/** The same of mono samples at 48 kHz. */
export function secondsHeardIn(samples: Float32Array): number[] {
  const count = Math.floor(samples.length / 48_000 / PITCH_STEP) - 1;
  return Array.from({ length: count }, (_, at) =>
    secondAt(samples, Math.round((at + 1) * PITCH_STEP * 48_000)),
  );
}

/** Half of the samples that a pitch is measured in. */
const HALF_WINDOW = 1200;

function secondAt(samples: Float32Array, middle: number): number {
  const crossings: number[] = [];
  let loudest = 0;
  for (let at = middle - HALF_WINDOW; at < middle + HALF_WINDOW; at += 1) {
    const [before = 0, after = 0] = [samples[at - 1], samples[at]];
    loudest = Math.max(loudest, Math.abs(after));
    if (before < 0 && after >= 0) crossings.push(at - after / (after - before));
  }
  const [first = 0, last = 0] = [crossings[0], crossings.at(-1)];
  if (loudest < 0.1 || crossings.length < 3) return Number.NaN;
  const pitch = ((crossings.length - 1) * 48_000) / (last - first);
  return (pitch - LOWEST_PITCH) / PITCH_PER_SECOND - ((first + last) / 2 - middle) / 48_000;
}
