import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EncodePlan, PieceTask } from '@framelane/contracts/transcode-plan';
import { pieceArguments } from '../../src/ffmpeg/task-arguments.ts';
import { encodedRungs } from '../../src/plan/encode-plan.ts';

const run = promisify(execFile);

/** A frame that enters an encoder: its number in its rendition, and a checksum of its pixels. */
export type EncoderFrame = { number: number; checksum: string };

/** The options that a run for the whole video does not have. */
const OF_PIECES = ['-copyts', '-start_at_zero'];

/** The frames that enter the encoder of each rendition in one run over the whole video, by the name of the rendition. */
export async function framesOfWhole(
  directory: string,
  plan: EncodePlan,
): Promise<Map<string, EncoderFrame[]>> {
  return encoderFrames(directory, plan, wholeOf(plan), isOfWhole);
}

/** Writes these frames without loss, and resolves with the files by the name of the rendition. */
export async function videosOfWhole(directory: string, plan: EncodePlan): Promise<Map<string, string>> {
  const options = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '0'];
  return runFilters(directory, plan, { piece: wholeOf(plan), keep: isOfWhole, options, extension: 'mkv' });
}

function wholeOf({ frames }: EncodePlan): PieceTask {
  return {
    ...{ kind: 'piece', firstSegment: 0, firstFrame: 0, frames, segmentStarts: [0], keyFrames: [0] },
    ...{ firstIFrame: 0, iFrames: 1, seek: null },
  };
}

function isOfWhole(option: string): boolean {
  return !OF_PIECES.includes(option);
}

/** The frames that enter the encoders in the run of a piece. */
export async function framesOfPiece(
  directory: string,
  plan: EncodePlan,
  piece: PieceTask,
): Promise<Map<string, EncoderFrame[]>> {
  return encoderFrames(directory, plan, piece, () => true);
}

async function encoderFrames(
  directory: string,
  plan: EncodePlan,
  piece: PieceTask,
  keep: (option: string) => boolean,
): Promise<Map<string, EncoderFrame[]>> {
  const options = ['-f', 'framemd5'];
  const lists = await runFilters(directory, plan, { piece, keep, options, extension: 'frames' });
  return new Map(
    await Promise.all([...lists].map(async ([name, path]) => [name, await readFrames(path)] as const)),
  );
}

type FilterRun = {
  piece: PieceTask;
  /** Which options of the input to keep. */
  keep: (option: string) => boolean;
  /** Options of the outputs, and the ends of their names. */
  options: readonly string[];
  extension: string;
};

/** Runs the filters of a piece, and resolves with a file for each rendition. */
async function runFilters(
  directory: string,
  plan: EncodePlan,
  { piece, keep, options, extension }: FilterRun,
): Promise<Map<string, string>> {
  const settings = { encoder: { preset: 'ultrafast', threads: 2 }, threads: 2 };
  const { inputOptions, input, outputs } = pieceArguments(plan, piece, settings);
  const graph = outputs[0]?.options ?? [];
  const names = encodedRungs(plan).map(({ name }) => name);
  await run(
    'ffmpeg',
    [
      ...['-y', ...inputOptions.filter(keep), '-i', input],
      ...graph.slice(0, graph.indexOf('-map')),
      ...names.flatMap((name) => ['-map', `[${name}]`, ...options, `${name}.${extension}`]),
    ],
    { cwd: directory, maxBuffer: 64 * 1024 ** 2 },
  );
  return new Map(names.map((name) => [name, join(directory, `${name}.${extension}`)]));
}

/** Lines of stream, dts, pts, duration, size and checksum. */
async function readFrames(path: string): Promise<EncoderFrame[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => /^\d/.test(line));
  return lines.map((line) => {
    const [, , pts, , , checksum = ''] = line.split(',').map((field) => field.trim());
    return { number: Number(pts), checksum };
  });
}
