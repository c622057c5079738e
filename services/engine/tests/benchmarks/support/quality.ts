import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Size } from '../../../src/source/media-source.ts';
import { ffprobe } from '../../support/media.ts';
import { measure } from './measure.ts';

const run = promisify(execFile);

/** Bit rates of the two-pass encodings, as parts of the bit rate that is compared with them. */
const STEPS = [0.45, 0.6, 0.75, 0.9, 1.05];

/** A point of a curve: the bits of an encoding, and its quality. */
export type Point = { bits: number; quality: number };

/** An encoding of some frames: its bits, its quality, and the CPU seconds it took. */
export type Encoding = Point & { cpuSeconds: number };

/** How similar two files are: VMAF, 0 to 100, or where ffmpeg lacks it SSIM in decibels. The first one is scaled to `size`, if there is one. */
export type Metric = {
  name: string;
  compare: (directory: string, file: string, original: string, size?: Size) => Promise<number>;
};

/** The best metric that ffmpeg has. */
export async function findMetric(): Promise<Metric> {
  const { stdout } = await run('ffmpeg', ['-hide_banner', '-filters']);
  return stdout.includes(' libvmaf ') ? VMAF : SSIM;
}

const SSIM: Metric = {
  name: 'SSIM dB',
  compare: async (...files) => {
    const [, part] = /All:([\d.]+)/.exec(await compare('ssim', ...files)) ?? [];
    return -10 * Math.log10(1 - Number(part));
  },
};

const VMAF: Metric = {
  name: 'VMAF',
  compare: async (...files) => {
    const [, score] = /VMAF score: ([\d.]+)/.exec(await compare('libvmaf', ...files)) ?? [];
    return Number(score);
  },
};

/** Frames are paired by their numbers: containers round times, and segments begin late. */
async function compare(
  filter: string,
  ...[cwd, file, original, size]: Parameters<Metric['compare']>
): Promise<string> {
  const numbered = 'settb=1/1000,setpts=N*40';
  const scaled = size ? `scale=${size.width}:${size.height}:flags=bicubic,` : '';
  const graph = `[0:v]${scaled}${numbered}[a];[1:v]${numbered}[b];[a][b]${filter}`;
  const args = ['-hide_banner', '-nostdin', '-i', file, '-i', original, '-lavfi', graph, '-f', 'null', '-'];
  return (await run('ffmpeg', args, { cwd })).stderr;
}

/** Encodes frames with one thread, which makes the CPU time comparable. `options` are those of ffmpeg for the encoder. */
export async function encode(
  directory: string,
  frames: string,
  options: readonly string[],
  metric: Metric,
): Promise<Encoding> {
  const decoding = await measure(() => ffmpegIn(directory, '-i', frames, '-f', 'null', '-'));
  const encoding = await measure(() => ffmpegIn(directory, '-i', frames, ...options, 'encoded.mp4'));
  return {
    bits: await bitsOf(join(directory, 'encoded.mp4')),
    quality: await metric.compare(directory, 'encoded.mp4', frames),
    cpuSeconds: encoding.cpuSeconds - decoding.cpuSeconds,
  };
}

/** What x264 achieves in two passes with the preset medium, around a number of bits. */
export async function twoPassCurve(
  directory: string,
  frames: string,
  options: readonly string[],
  { bits, seconds, metric }: { bits: number; seconds: number; metric: Metric },
): Promise<Point[]> {
  const points: Point[] = [];
  for (const step of STEPS) {
    const rate = String(Math.round((bits * step) / seconds));
    const pass = (number: string) => [...options, '-preset', 'medium', '-b:v', rate, '-pass', number];
    await ffmpegIn(directory, '-i', frames, ...pass('1'), '-f', 'null', '-');
    await ffmpegIn(directory, '-i', frames, ...pass('2'), 'reference.mp4');
    points.push({
      bits: await bitsOf(join(directory, 'reference.mp4')),
      quality: await metric.compare(directory, 'reference.mp4', frames),
    });
  }
  return points;
}

/** The part of the bits that exceeds what a curve needs for the same quality: 0.1 is 10 % too many. */
export function waste({ bits, quality }: Point, curve: readonly Point[]): number {
  return bits / valueAt(quality, curve, (point) => point.bits) - 1;
}

/** What an encoder needs for a quality, of which some encodings are known. */
export function atQuality(quality: number, encodings: readonly Encoding[]): Encoding {
  return {
    quality,
    bits: valueAt(quality, encodings, ({ bits }) => bits),
    cpuSeconds: valueAt(quality, encodings, ({ cpuSeconds }) => cpuSeconds),
  };
}

/** Interpolates between the two nearest points, on a logarithmic scale. Beyond the ends of the curve, its first or last segment is extrapolated. */
function valueAt<T extends Point>(quality: number, curve: readonly T[], value: (point: T) => number): number {
  const sorted = curve.toSorted((a, b) => a.quality - b.quality);
  const above = sorted.findIndex((point) => point.quality >= quality);
  const at = above === -1 ? sorted.length - 1 : Math.max(1, above);
  const [low, high] = [sorted[at - 1], sorted[at]] as [T, T];
  const part = (quality - low.quality) / (high.quality - low.quality);
  return value(low) * (value(high) / value(low)) ** part;
}

async function bitsOf(path: string): Promise<number> {
  const { packets } = await ffprobe<{ packets: { size: string }[] }>(
    ...['-select_streams', 'v', '-show_entries', 'packet=size', path],
  );
  return packets.reduce((sum, { size }) => sum + 8 * Number(size), 0);
}

async function ffmpegIn(cwd: string, ...args: string[]): Promise<void> {
  await run('ffmpeg', ['-v', 'error', '-nostdin', '-y', '-threads', '1', ...args], { cwd });
}
