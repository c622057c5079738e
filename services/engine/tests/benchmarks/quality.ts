/**
 * How well the encoder uses its bits: `pnpm bench:quality [file…] [--clips=slides,motion,grain,screen] [--preset=veryfast] [--renditions=360p,480p]
 * [--codecs=h264,hevc,av1] [--try=<options of x264>]…`. Encodes the frames of each rendition
 *
 * - as the engine does,
 * - with the preset alone,
 * - with the preset and each `--try`, for example `--try=b-adapt=2:subme=4`,
 * - for each of the `--codecs`: as the engine does in that codec, and with an encoder alone at the quality of the engine's encoding,
 *
 * and compares each with x264 in two passes with the preset medium. "Waste" is the part of the bits beyond what two passes need
 * for the same quality; another codec may need fewer. The last lines of a clip are about its whole ladder: what the engine needs, what it needed
 * before it chose key frames and rungs by the picture (ADR 86), and what two passes need for the same quality of all rungs. Quality is VMAF, or SSIM
 * where ffmpeg lacks VMAF, against the frames that the encoder gets. CPU times are for one thread and 15 seconds of video. Prints a table for each clip, what
 * each packaging needs, the medians, and the CPU time of the whole job.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ALTERNATIVE_CODECS, RUNGS, type VideoRendition } from '@framelane/contracts/renditions';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { createLogger } from '@framelane/service-kit/logger';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { inCodec } from '../../src/plan/alternatives.ts';
import { planEncoding } from '../../src/plan/encode-plan.ts';
import { KEY_FRAME_SECONDS } from '../../src/plan/key-frames.ts';
import { planLadder, rungTraits } from '../../src/plan/ladder.ts';
import { toNumber } from '../../src/source/frame-rate.ts';
import { isSound, probe } from '../../src/source/probe.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode-settings.ts';
import {
  encoder,
  formerly,
  jobDirectory,
  presetAlone,
  runBare,
  takeOutput,
  without,
  writeFrames,
} from './support/baselines.ts';
import { measure } from './support/measure.ts';
import { packedBytes } from './support/packed-bytes.ts';
import { atQuality, type Encoding, encode, findMetric, twoPassCurve, waste } from './support/quality.ts';
import { REFERENCES, type Reference } from './support/references.ts';
import { makeQualityClips, QUALITY_CLIPS } from './support/sources.ts';

type Row = {
  clip: string;
  rendition: VideoRendition;
  settings: string;
  bits: number;
  waste: number;
  cpuSeconds: number;
};

/** The engine, and the engine before ADR 86, as rows name them. */
const ENGINE = 'engine';
const FORMER = 'engine before';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    clips: { type: 'string', default: QUALITY_CLIPS.join() },
    preset: { type: 'string', default: 'veryfast' },
    renditions: { type: 'string', default: RUNGS.join() },
    codecs: { type: 'string', default: '' },
    try: { type: 'string', multiple: true, default: [] },
  },
});
const settings = { preset: values.preset, threads: 1, limits: DEFAULT_TRANSCODE_LIMITS };
const codecs = values.codecs.split(',').filter((codec) => codec !== '');
const references = codecs.map(referenceOf);
const alternatives = ALTERNATIVE_CODECS.filter((codec) => codecs.includes(codec));

const directory = await mkdtemp(join(tmpdir(), 'bench-quality-'));
const metric = await findMetric();
try {
  const files = [
    ...(await makeQualityClips(directory, values.clips.split(','))),
    ...positionals.map((file) => resolve(file)),
  ];
  const rows: Row[] = [];
  for (const file of files) rows.push(...(await measureClip(file)));
  reportMedians(rows);
  print(JSON.stringify({ metric: metric.name, rows }));
} finally {
  await rm(directory, { recursive: true });
}

async function measureClip(file: string): Promise<Row[]> {
  const job = await jobDirectory(directory, file);
  const { plan, ladder } = await planFor(job);
  const whole = { ...plan, videoRenditions: ladder };
  await writeFrames(job, whole, settings);
  const clip = basename(file);
  print(`\n${line([clip, 'kb/s', metric.name, 'waste', 'CPU s'])}`);
  const rows: Row[] = [];
  for (const [at, { name }] of ladder.entries()) {
    if (values.renditions.split(',').includes(name))
      rows.push(...(await measureRendition(job, whole, at, clip, name)));
  }
  reportLadder(rows, plan);
  const run = await measure(() => runBare(job, plan, settings));
  await takeOutput(job);
  print(line(['whole job', '', '', '', per15Seconds(run.cpuSeconds, plan).toFixed(2)]));
  reportPackaging(await packedBytes(job, plan, settings), plan);
  await rm(job, { recursive: true });
  return rows;
}

async function measureRendition(
  job: string,
  plan: EncodePlan,
  at: number,
  clip: string,
  rendition: VideoRendition,
): Promise<Row[]> {
  const frames = `${rendition}.mkv`;
  const ours = encoder(plan, at, 0, settings);
  const preset = presetAlone(ours);
  const contenders: [string, string[]][] = [
    [ENGINE, ours],
    ...former(plan, at),
    [values.preset, preset],
    ...alternatives.map((codec): [string, string[]] => [
      `engine ${codec}`,
      encoder({ ...plan, videoRenditions: inCodec(codec, plan.videoRenditions) }, at, 0, settings),
    ]),
    ...values.try.map((params): [string, string[]] => [params, [...preset, '-x264-params:v:0', params]]),
  ];
  const bare = ['-crf:v:0', '-preset:v:0', '-maxrate:v:0', '-bufsize:v:0'].reduce(without, preset);
  const encoded: { name: string; encoding: Encoding }[] = [];
  for (const [name, options] of contenders)
    encoded.push({ name, encoding: await encode(job, frames, options, metric) });
  const [engine] = encoded as [(typeof encoded)[number]];
  for (const reference of references)
    encoded.push(
      await encodeReference(reference, { job, frames, plan, at, quality: engine.encoding.quality }),
    );
  const { bits } = engine.encoding;
  const curve = await twoPassCurve(job, frames, bare, { bits, seconds: plan.duration, metric });
  return encoded.map(({ name, encoding }) => {
    const row = {
      clip,
      rendition,
      settings: name,
      bits: encoding.bits,
      waste: waste(encoding, curve),
      cpuSeconds: per15Seconds(encoding.cpuSeconds, plan),
    };
    print(
      line([
        `${rendition} ${name}`,
        (encoding.bits / plan.duration / 1000).toFixed(0),
        encoding.quality.toFixed(2),
        percent(row.waste),
        row.cpuSeconds.toFixed(2),
      ]),
    );
    return row;
  });
}

/** What an encoder alone needs for a quality of a rendition. */
async function encodeReference(
  { name, factors, options }: Reference,
  {
    job,
    frames,
    plan,
    at,
    quality,
  }: { job: string; frames: string; plan: EncodePlan; at: number; quality: number },
): Promise<{ name: string; encoding: Encoding }> {
  const framesPerSecond = toNumber(plan.frameRate) / (plan.videoRenditions[at]?.frameStep ?? 1);
  const groupFrames = Math.round(KEY_FRAME_SECONDS * framesPerSecond);
  const encodings: Encoding[] = [];
  for (const factor of factors)
    encodings.push(await encode(job, frames, options(factor, groupFrames), metric));
  return { name, encoding: atQuality(quality, encodings) };
}

function referenceOf(codec: string): Reference {
  const reference = REFERENCES[codec];
  if (reference === undefined)
    throw new Error(`--codecs has "${codec}". It can have ${Object.keys(REFERENCES).join(', ')}.`);
  return reference(values.preset);
}

/** The engine before ADR 86, which is known for one preset. */
function former(plan: EncodePlan, at: number): [string, string[]][] {
  const { keyFrames: _, ...regular } = plan;
  const [rendition] = plan.videoRenditions.slice(at);
  if (values.preset !== 'veryfast' || rendition === undefined) return [];
  const options = encoder(regular, at, 0, settings);
  return [[FORMER, formerly(options, rungTraits(rendition).isSmall)]];
}

/** The plan of the engine, and its ladder if no rung were left out. */
async function planFor(job: string) {
  const options = { workDir: directory, sandbox: 'none', limits: settings.limits } as const;
  const tools = await prepareMediaTools(options, createLogger({ service: 'benchmark', level: 'error' }));
  const { signal } = new AbortController();
  const source = await probe({ program: tools.ffprobe, cwd: job, signal, audioOnly: 'refused', ...settings });
  if (isSound(source)) throw new Error('The file has no video');
  const plan = planEncoding(source, { allowCopy: false });
  return { plan, ladder: planLadder(source.video.display, toNumber(plan.frameRate)) };
}

/** The whole ladder of a clip: bits and CPU time of the engine without the rungs that it leaves out, and the part by which they differ from others. */
function reportLadder(rows: readonly Row[], { videoRenditions, duration }: EncodePlan): void {
  const made = (row: Row) => videoRenditions.some(({ name }) => name === row.rendition);
  const engine = rows.filter((row) => row.settings === ENGINE);
  const ours = engine.filter(made);
  const bits = sum(ours.map((row) => row.bits));
  const cpuSeconds = sum(ours.map((row) => row.cpuSeconds));
  print(`\n${line(['ladder', 'kb/s', 'engine', 'CPU s', 'engine'])}`);
  const row = (name: string, of: { bits: number; cpuSeconds: number | null }) =>
    print(
      line([
        name,
        (of.bits / duration / 1000).toFixed(0),
        percent(bits / of.bits - 1),
        of.cpuSeconds?.toFixed(2) ?? '',
        of.cpuSeconds === null ? '' : percent(cpuSeconds / of.cpuSeconds - 1),
      ]),
    );
  row(`engine, ${ours.length} of ${engine.length} rungs`, { bits, cpuSeconds });
  const before = rows.filter((each) => each.settings === FORMER);
  if (before.length > 0) {
    const needed = before.map((each) => each.bits);
    row(FORMER, { bits: sum(needed), cpuSeconds: sum(before.map((each) => each.cpuSeconds)) });
  }
  const twoPass = engine.map((each) => each.bits / (1 + each.waste));
  row('two passes, same quality', { bits: sum(twoPass), cpuSeconds: null });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What packing needs: bits a second in each packaging, and the part that CMAF saves, of each rendition and of all. */
function reportPackaging(bytes: Awaited<ReturnType<typeof packedBytes>>, { duration }: EncodePlan): void {
  print(`\n${line(['packaging', 'TS kb/s', 'CMAF kb/s', 'saved'])}`);
  const rate = (size: number) => ((8 * size) / duration / 1000).toFixed(0);
  const all = { ts: 0, cmaf: 0 };
  const row = (name: string, { ts, cmaf }: typeof all) =>
    print(line([name, rate(ts), rate(cmaf), percent(1 - cmaf / ts)]));
  for (const [name, sizes] of bytes) {
    row(name, sizes);
    all.ts += sizes.ts;
    all.cmaf += sizes.cmaf;
  }
  row('all', all);
}

function reportMedians(rows: readonly Row[]): void {
  print(`\n${line(['median of all clips', 'waste', 'CPU s'])}`);
  const groups = Map.groupBy(rows, (row) => `${row.rendition} ${row.settings}`);
  for (const [name, group] of groups) {
    const cpuSeconds = median(group.map((row) => row.cpuSeconds));
    print(line([name, percent(median(group.map((row) => row.waste))), cpuSeconds.toFixed(2)]));
  }
}

function per15Seconds(cpuSeconds: number, { duration }: EncodePlan): number {
  return (cpuSeconds * 15) / duration;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
