import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VideoRendition } from '@framelane/contracts/renditions';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { videoOptions } from '../../../src/ffmpeg/encoder-options.ts';
import { IMAGE_NAMES } from '../../../src/outputs/images/image-filters.ts';
import { pieceArguments } from '../../../src/outputs/renditions/piece-arguments.ts';
import { planPieces } from '../../../src/outputs/renditions/plan-pieces.ts';
import { wholeArguments } from '../../../src/outputs/whole-run.ts';
import { packagerOf } from '../../../src/packagers/packagers.ts';
import { initializationFile, readSegmentFile, segmentFile } from '../../../src/packagers/segment-files.ts';
import { keyFramesOf } from '../../../src/plan/key-frames.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER, SOURCE_PATH } from '../../../src/sandbox/job-folder.ts';
import type { ProbedVideo } from '../../../src/source/probe.ts';
import type { TranscodeSettings } from '../../../src/transcode-settings.ts';

export type BaselineSettings = Pick<TranscodeSettings, 'preset' | 'threads' | 'limits'>;

/** Makes a job's directory with the source. If the benchmark runs as root, ffprobe runs as another user, who gets access. */
export async function jobDirectory(parent: string, source: string): Promise<string> {
  const directory = await mkdtemp(join(parent, 'baseline-'));
  await mkdir(join(directory, SOURCE_FOLDER));
  await mkdir(join(directory, OUTPUT_FOLDER));
  await copyFile(source, join(directory, SOURCE_PATH));
  await chmod(join(directory, SOURCE_PATH), 0o644);
  for (const path of [parent, directory]) await chmod(path, 0o755);
  return directory;
}

/** Removes the output in a job's directory, and resolves with the total size of its segments. */
export async function takeOutput(directory: string): Promise<number> {
  const folder = join(directory, OUTPUT_FOLDER);
  let bytes = 0;
  for (const name of await readdir(folder)) {
    if (/\.(ts|m4s)$/.test(name)) bytes += (await stat(join(folder, name))).size;
    await rm(join(folder, name));
  }
  return bytes;
}

/** Joins the segments of a rendition in a job's directory to one file, and resolves with its name. */
export async function joinSegments(
  directory: string,
  { packaging }: Pick<EncodePlan, 'packaging'>,
  name: VideoRendition,
): Promise<string> {
  const folder = join(directory, OUTPUT_FOLDER);
  const packager = packagerOf(packaging);
  const segments = (await readdir(folder)).flatMap((file) => {
    const segment = readSegmentFile(file, packager);
    return segment?.rendition === name ? [{ file, sequence: segment.sequence }] : [];
  });
  segments.sort((a, b) => Number(a.sequence) - Number(b.sequence));
  const initialization = await readFile(join(folder, initializationFile(name))).catch(() => Buffer.alloc(0));
  const contents = await Promise.all(segments.map(({ file }) => readFile(join(folder, file))));
  await writeFile(join(directory, 'joined'), Buffer.concat([initialization, ...contents]));
  return 'joined';
}

/** The ffmpeg run of the engine, without the engine. */
export async function runBare(
  directory: string,
  plan: EncodePlan,
  settings: BaselineSettings,
): Promise<void> {
  const { inputOptions, input, outputs } = wholeArguments(plan, settings);
  const output = outputs.flatMap(({ options, path }) => [...options, path]);
  await run(directory, [...inputOptions, '-i', input, ...output]);
}

/** The ffmpeg run of the engine for the renditions in another codec, as one piece, without the engine. */
export async function runCodec(
  directory: string,
  { source, plan }: { source: ProbedVideo; plan: EncodePlan },
  settings: BaselineSettings,
): Promise<void> {
  const video = { source, encode: plan, keyFrames: keyFramesOf(plan, source.gops) };
  const [piece] = planPieces({ ...video, pieceSeconds: Number.POSITIVE_INFINITY }, []);
  if (piece === undefined) throw new Error('The video has no piece');
  const { inputOptions, input, outputs } = pieceArguments(plan, piece, {
    encoder: settings,
    threads: settings.threads,
  });
  const output = outputs.flatMap(({ options, path }) => [...options, path]);
  await run(directory, [...inputOptions, '-i', input, ...output]);
}

/**
 * One ffmpeg run per rendition, one after another, with audio in the segments of each, packed as the plan says.
 *
 * @param tuned with the engine's options for small renditions; otherwise with the preset alone
 */
export async function runPerRendition(
  directory: string,
  plan: EncodePlan,
  settings: BaselineSettings,
  tuned: boolean,
): Promise<void> {
  const packager = packagerOf(plan.packaging);
  for (const [at, { name, width, height }] of plan.videoRenditions.entries()) {
    const options = encoder(plan, at, 0, settings);
    await run(directory, [
      ...['-v', 'error', '-threads', String(settings.threads), '-i', SOURCE_PATH],
      ...[
        '-map',
        '0:v:0',
        '-map',
        '0:a:0?',
        '-vf',
        `setpts=PTS-STARTPTS,scale=${width}:${height},format=yuv420p`,
      ],
      ...(tuned ? options : presetAlone(options)),
      ...['-c:a', 'aac', '-ac', '2', '-b:a', '128k', '-f', 'hls', '-hls_time', '6'],
      ...['-hls_playlist_type', 'vod', ...packager.hlsOptions(initializationFile(name))],
      ...['-hls_segment_filename', `${OUTPUT_FOLDER}/${segmentFile(name, '%d', packager)}`],
      `${OUTPUT_FOLDER}/${name}.m3u8`,
    ]);
  }
}

/** Decodes and scales the frames of the renditions to encode, encodes them if `encoded`, and discards the output. */
export async function runVideoFilters(
  directory: string,
  plan: EncodePlan,
  settings: BaselineSettings,
  encoded: boolean,
): Promise<void> {
  const threads = String(settings.threads);
  const options = streamOptions({ ...plan, audio: [] }, settings);
  const graph = options[options.indexOf('-filter_complex') + 1] ?? '';
  const encodedRenditions = plan.copiesVideo ? plan.videoRenditions.slice(0, -1) : plan.videoRenditions;
  await run(directory, [
    ...['-v', 'error', '-threads', threads, '-i', SOURCE_PATH],
    ...['-filter_complex_threads', threads, '-filter_complex', graph],
    ...encodedRenditions.flatMap(({ name }) => ['-map', `[${name}]`]),
    ...IMAGE_NAMES.flatMap((name) => ['-map', `[${name}]`]),
    ...['-c:v', 'wrapped_avframe'],
    ...(encoded ? encodedRenditions.flatMap((_, at) => encoder(plan, at, at, settings)) : []),
    ...['-f', 'null', '-'],
  ]);
}

/** Writes the frames of the renditions to encode, unchanged, each to `<rendition>.mkv`. */
export async function writeFrames(
  directory: string,
  plan: EncodePlan,
  settings: BaselineSettings,
): Promise<void> {
  const options = streamOptions({ ...plan, audio: [] }, settings);
  const graph = options[options.indexOf('-filter_complex') + 1] ?? '';
  const lossless = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '0'];
  await run(directory, [
    ...['-v', 'error', '-i', SOURCE_PATH, '-filter_complex', graph],
    ...plan.videoRenditions.flatMap(({ name }) => ['-map', `[${name}]`, ...lossless, `${name}.mkv`]),
    ...IMAGE_NAMES.flatMap((name) => ['-map', `[${name}]`, '-c:v', 'wrapped_avframe', '-f', 'null', '-']),
  ]);
}

/** The engine's encoder options of rendition `at`, for video output `output`. */
export function encoder(plan: EncodePlan, at: number, output: number, settings: BaselineSettings): string[] {
  const [rendition] = plan.videoRenditions.slice(at);
  if (rendition === undefined) throw new Error(`There is no rendition ${at}`);
  const options = videoOptions(rendition, { ...plan, copiesVideo: false }, settings);
  return options.map((option) => (option.endsWith(':v') ? `${option}:${output}` : option));
}

/** Options without those that the engine adds to the preset of x264. */
export function presetAlone(options: readonly string[]): string[] {
  return ['-x264-params:v:0', '-refs:v:0'].reduce<string[]>(without, [...options]);
}

/**
 * The options of the engine for x264 before ADR 86, with the preset `veryfast`.
 *
 * @param isSmall whether the rendition is small (see `VideoDemands`)
 */
export function formerly(options: readonly string[], isSmall: boolean): string[] {
  if (isSmall) return [...options];
  const params = options.indexOf('-x264-params:v:0') + 1;
  return without(options.with(params, 'me=dia:aq-mode=2:direct=temporal'), '-refs:v:0');
}

/** Options without one and its value. */
export function without(options: readonly string[], name: string): string[] {
  const at = options.indexOf(name);
  return at === -1 ? [...options] : options.toSpliced(at, 2);
}

/** The options of the first output of the engine's run. */
function streamOptions(plan: EncodePlan, settings: BaselineSettings): readonly string[] {
  return wholeArguments(plan, settings).outputs[0]?.options ?? [];
}

async function run(cwd: string, args: readonly string[]): Promise<void> {
  const child = spawn('ffmpeg', ['-nostdin', '-y', ...args], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    // SVT-AV1 prints its errors alone.
    env: { ...process.env, SVT_LOG: '1' },
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}: ${args.join(' ')}`);
}
