import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { pieceArguments } from '../../src/outputs/renditions/piece-arguments.ts';
import { encodedRenditions } from '../../src/plan/encode-plan.ts';
import { SOURCE_FOLDER } from '../../src/sandbox/job-folder.ts';

const run = promisify(execFile);
const LONG_OUTPUT = { maxBuffer: 64 * 1024 ** 2 };

/** A frame that enters an encoder: its number in its rendition, and a checksum of its pixels. */
export type EncoderFrame = { number: number; checksum: string };

/** A piece, and a directory with what its run needs of the source. */
export type PieceInput = { directory: string; piece: PieceTask };

/** The options that a run for the whole video does not have, unless the filters expect the timestamps of the file. */
const OF_PIECES = ['-copyts', '-start_at_zero'];

/** A filter that lets frames be compared in their order, whatever their timestamps are. */
const NUMBERED = 'settb=1/25,setpts=N';

/** The frames that enter the encoder of each rendition in one run over the whole video, by the name of the rendition. */
export async function framesOfWhole(
  directory: string,
  plan: EncodePlan,
): Promise<Map<string, EncoderFrame[]>> {
  const [frames = new Map()] = await encoderFrames(plan, [wholeInput(directory, plan)]);
  return frames;
}

/** The frames that enter the encoders in the run of each piece. */
export async function framesOfPieces(
  plan: EncodePlan,
  pieces: readonly PieceInput[],
): Promise<Map<string, EncoderFrame[]>[]> {
  return encoderFrames(
    plan,
    pieces.map((piece, at) => filterInput(piece, plan, at)),
  );
}

export type Comparison = {
  /** How similar the frames of each file are to those of the whole, from 0 to 1 (SSIM), by the name of the rendition. */
  similarities: Map<string, number[]>;
  /** What ffmpeg warns of while it decodes the files and the source. */
  warnings: string[];
};

/**
 * Compares files with the frames that enter the encoder of their rendition in one run over the whole video. Also decodes
 * `others`, without a comparison, for the warnings.
 *
 * @param files by the name of the rendition
 */
export async function compareWithWhole(
  directory: string,
  plan: EncodePlan,
  files: ReadonlyMap<string, readonly string[]>,
  others: readonly string[],
): Promise<Comparison> {
  const { options, graph } = wholeInput(directory, plan);
  // The source is input 0 of ffmpeg.
  const inputs = [...others, ...[...files.values()].flat()];
  const numberOf = (file: string) => 1 + inputs.indexOf(file);
  const comparisons = [...files].map(([name, ofRendition]) => ({
    name,
    graph: [
      `[${labelOf(name, 0)}]${NUMBERED},split=${ofRendition.length}${ofRendition.map((_, at) => `[${name}-${at}]`).join('')}`,
      ...ofRendition.map(
        (file, at) =>
          `[${numberOf(file)}:v]${NUMBERED}[${name}-file-${at}];` +
          `[${name}-file-${at}][${name}-${at}]ssim@${name}-${at}[${name}-ssim-${at}]`,
      ),
    ].join(';'),
    outputs: ofRendition.map((_, at) => `[${name}-ssim-${at}]`),
  }));
  const graphs = [graph, ...comparisons.map((comparison) => comparison.graph)].join(';');
  const outputs = [
    ...comparisons.flatMap((comparison) => comparison.outputs),
    // The files with their own timestamps: ffmpeg warns of those that do not ascend.
    ...inputs.map((_, at) => `${at + 1}`),
  ];
  const { stderr } = await run(
    'ffmpeg',
    [
      ...options,
      // The last `-v` counts.
      ...['-v', 'level+info', '-nostats'],
      ...[...inputs.flatMap((file) => ['-i', file]), '-filter_complex', graphs],
      ...outputs.flatMap((output) => ['-map', output, '-f', 'null', '-']),
    ],
    LONG_OUTPUT,
  );
  const similarity = (name: string, at: number) =>
    Number(new RegExp(`ssim@${name}-${at} .*All:([\\d.]+)`).exec(stderr)?.[1]);
  return {
    similarities: new Map(
      [...files].map(([name, ofRendition]) => [name, ofRendition.map((_, at) => similarity(name, at))]),
    ),
    warnings: stderr.split('\n').filter((line) => /\[(warning|error|fatal|panic)\]/.test(line)),
  };
}

/** One input of ffmpeg: its options with the input itself, and its filters, which have an output for each rendition (see `labelOf`). */
type FilterInput = { options: readonly string[]; graph: string };

function wholeInput(directory: string, plan: EncodePlan): FilterInput {
  const { frames } = plan;
  const piece: PieceTask = {
    kind: 'piece',
    firstSegment: 0,
    firstFrame: 0,
    frames,
    segmentStarts: [0],
    keyFrames: [0],
    firstIFrame: 0,
    iFrames: 1,
    seek: null,
  };
  const { options, graph } = filterInput({ directory, piece }, plan, 0);
  const hasFileTimes = plan.reading?.startTime !== undefined;
  return {
    options: options.filter((option) => hasFileTimes || !OF_PIECES.includes(option)),
    graph,
  };
}

/** @param at the number of the run */
function filterInput({ directory, piece }: PieceInput, plan: EncodePlan, at: number): FilterInput {
  const settings = { encoder: { preset: 'ultrafast', threads: 2 }, threads: 2 };
  const { inputOptions, input, moreInputs = [], outputs } = pieceArguments(plan, piece, settings);
  const outputOptions = outputs[0]?.options ?? [];
  const graph = outputOptions[outputOptions.indexOf('-filter_complex') + 1] ?? '';
  const first = at * (1 + moreInputs.length);
  const inDirectory = (path: string) => path.replace(SOURCE_FOLDER, join(directory, SOURCE_FOLDER));
  return {
    options: [
      ...[...inputOptions, '-i', inDirectory(input)],
      ...moreInputs.flatMap(({ options, path }) => [...options, '-i', inDirectory(path)]),
    ],
    graph: graph
      .replaceAll(/\[([a-z\d-]+)\]/g, (_, name) => `[${labelOf(name, at)}]`)
      .replaceAll(/\[([01]):/g, (_, input) => `[${first + Number(input)}:`),
  };
}

/** The label of a rendition, unique among all inputs of a run. */
function labelOf(name: string, input: number): string {
  return `${name}-of-${input}`;
}

/** Runs the filters of all inputs in one process: each start of ffmpeg costs more than the frames of a piece. */
async function encoderFrames(
  plan: EncodePlan,
  inputs: readonly FilterInput[],
): Promise<Map<string, EncoderFrame[]>[]> {
  const names = encodedRenditions(plan).map(({ name }) => name);
  const folder = await mkdtemp(join(tmpdir(), 'encoder-frames-'));
  const fileOf = (label: string) => join(folder, `${label}.frames`);
  const labels = inputs.flatMap((_, at) => names.map((name) => labelOf(name, at)));
  try {
    await run(
      'ffmpeg',
      [
        ...inputs.flatMap(({ options }) => options),
        ...['-filter_complex_threads', '2', '-filter_complex', inputs.map(({ graph }) => graph).join(';')],
        ...labels.flatMap((label) => [
          '-map',
          `[${label}]`,
          '-f',
          'framehash',
          '-hash',
          'murmur3',
          fileOf(label),
        ]),
      ],
      LONG_OUTPUT,
    );
    return await Promise.all(
      inputs.map(
        async (_, at) =>
          new Map(
            await Promise.all(
              names.map(async (name) => [name, await readFrames(fileOf(labelOf(name, at)))] as const),
            ),
          ),
      ),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lines of stream, dts, pts, duration, size and checksum. */
async function readFrames(path: string): Promise<EncoderFrame[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => /^\d/.test(line));
  return lines.map((line) => {
    const [, , pts, , , checksum = ''] = line.split(',').map((field) => field.trim());
    return { number: Number(pts), checksum };
  });
}
