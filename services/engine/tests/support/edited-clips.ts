import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { inputOptions } from '../../src/ffmpeg/arguments.ts';
import { audioGraphs } from '../../src/ffmpeg/filter-graph.ts';
import { SOURCE_PATH } from '../../src/sandbox/job-folder.ts';
import { type Edit, withEditLists } from './edit-lists.ts';

const run = promisify(execFile);
const LONG_OUTPUT = { encoding: 'buffer', maxBuffer: 64 * 1024 ** 2 } as const;

export const RATE = 25;
export const SECONDS = 24;

/** The pitch of the tone at a second of the audio, in hertz. */
const LOWEST_PITCH = 400;
const PITCH_PER_SECOND = 100;

/** Frames that all differ, and a tone whose pitch tells the time. */
const COUNTED: Required<Omit<Clip, 'options'>> = {
  video:
    `color=s=64x64:r=${RATE}:d=${SECONDS},format=yuv420p,` +
    String.raw`geq=lum='24+14*if(lt(X\,21)\,floor(N/225)\,if(lt(X\,42)\,mod(floor(N/15)\,15)\,mod(N\,15)))':cb=128:cr=128`,
  audio: `aevalsrc='0.3*sin(2*PI*(${LOWEST_PITCH}*t+${PITCH_PER_SECOND / 2}*t*t))':s=48000:d=${SECONDS}`,
};
const BT709 = ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'];

/** AAC begins with one frame of priming samples. */
const AUDIO_DELAY = 1024 / 48_000;

/** A clip whose frames are known by their checksums. */
export class EditedClip {
  readonly #file: Buffer;
  /** Seconds from the beginning of the media to the first frame: the time that frames wait for B-frames. */
  readonly #delay: number;
  readonly #numbers: ReadonlyMap<string, number>;

  private constructor(file: Buffer, delay: number, numbers: ReadonlyMap<string, number>) {
    this.#file = file;
    this.#delay = delay;
    this.#numbers = numbers;
  }

  /** @param path for a file that the clip may leave there */
  static async make(path: string, delayedFrames: number, options: readonly string[]): Promise<EditedClip> {
    const clip = await makeClip(path, { ...COUNTED, options: [...BT709, '-c:a', 'aac', ...options] });
    const checksums = await frameChecksums(clip);
    const numbers = new Map(checksums.map((checksum, number) => [checksum, number]));
    return new EditedClip(await readFile(clip), delayedFrames / RATE, numbers);
  }

  /** Writes the clip with other edit lists. Times are in seconds from the first frame and the first sample. */
  async write(path: string, video: readonly Edit[], audio: readonly Edit[]): Promise<void> {
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
  const lines = stdout
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
  const samples = new Float32Array(new Uint8Array(stdout).buffer);
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
