/**
 * The cost of a transcode: `pnpm bench:transcode [file] [--rounds=3] [--codecs=av1,hevc]`. Compares a complete job, from claim to manifest, with
 *
 * - the same ffmpeg run without the engine,
 * - one ffmpeg run per rendition, one after another, with the same options of x264, and with its preset alone,
 * - x264 alone for the encoded renditions: a run with x264 minus a run without it.
 *
 * For each of the `--codecs`, the engine's run of all renditions in that codec is compared with one ffmpeg run per rendition. Quality is that of the
 * highest encoded rendition, scaled to the size of the source: VMAF, or SSIM where ffmpeg lacks it.
 *
 * Measures one video with a stream copy and one that is encoded: two samples, or the given file, as it is and in a container
 * that does not allow a stream copy. Each round runs all contenders, so that other load affects them equally. Prints medians,
 * as a table and as JSON; ratios are computed per round.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGING_OF_ALTERNATIVES } from '@framelane/contracts/packaging';
import { ALTERNATIVE_CODECS, type AlternativeCodec } from '@framelane/contracts/renditions';
import { type EncodePlan, encodePlanIn } from '@framelane/contracts/transcode-plan';
import { createLogger } from '@framelane/service-kit/logger';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { planAlternatives } from '../../src/plan/alternatives.ts';
import { encodedRenditions, planEncoding } from '../../src/plan/encode-plan.ts';
import type { ExplainedPlan } from '../../src/plan/explained-plan.ts';
import { SOURCE_PATH } from '../../src/sandbox/job-folder.ts';
import { isSound, type ProbedVideo, probe } from '../../src/source/probe.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode-settings.ts';
import { WorkerBench } from '../support/worker-bench.ts';
import {
  jobDirectory,
  joinSegments,
  runBare,
  runCodec,
  runPerRendition,
  runVideoFilters,
  takeOutput,
} from './support/baselines.ts';
import { type Cost, measure } from './support/measure.ts';
import { findMetric } from './support/quality.ts';
import { makeSample, withoutCopy } from './support/sources.ts';

type Planned = { source: ProbedVideo; plan: ExplainedPlan };

const EIGHT_BITS = { tenBit: false, hdr: 'sdr' } as const;

/** The cost of a run, and what it has made. */
type Run = Cost & { bytes: number; quality: number };

type Round = {
  engine: Cost & { bytes: number; secondsAfterFfmpeg: number; progressError: number };
  bare: Run;
  perRendition: Run;
  presetAlone: Run;
  /** CPU seconds. */
  x264: number;
  /** By codec: the engine's run, and one run per rendition. */
  codecs: Partial<Record<AlternativeCodec, { together: Run; apart: Run }>>;
};

const settings = { preset: 'veryfast', threads: availableParallelism(), limits: DEFAULT_TRANSCODE_LIMITS };
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' }, codecs: { type: 'string', default: '' } },
});
const codecs = ALTERNATIVE_CODECS.filter((codec) => values.codecs.split(',').includes(codec));

const metric = await findMetric();
const directory = await mkdtemp(join(tmpdir(), 'bench-transcode-'));
// Without the sandbox, which hides the CPU times of its processes.
const bench = await WorkerBench.start({ ...settings, sandbox: 'none' });
try {
  const [file] = positionals;
  const sources =
    file === undefined
      ? [await makeSample(directory, 'web'), await makeSample(directory, 'camera')]
      : [resolve(file), await withoutCopy(directory, resolve(file))];
  for (const [at, path] of sources.entries()) {
    const { source, plan } = await planFor(path);
    if (at === 0 && !plan.copiesVideo)
      print(`The video does not allow a stream copy: ${plan.obstacles.video}`);
    const rounds: Round[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1)
      rounds.push(await runRound(path, { source, plan }));
    report(plan.copiesVideo ? 'stream copy of the highest rendition' : 'all renditions encoded', rounds);
  }
} finally {
  await bench.stop();
  await rm(directory, { recursive: true });
}

async function planFor(path: string): Promise<Planned> {
  const job = await jobDirectory(directory, path);
  const options = { workDir: bench.workDir, sandbox: 'none', limits: settings.limits } as const;
  const tools = await prepareMediaTools(options, createLogger({ service: 'benchmark', level: 'error' }));
  const { signal } = new AbortController();
  const source = await probe({ program: tools.ffprobe, cwd: job, signal, audioOnly: 'refused', ...settings });
  if (isSound(source)) throw new Error('The file has no video');
  return { source, plan: planEncoding(source, { allowCopy: true }) };
}

async function runRound(path: string, { source, plan }: Planned): Promise<Round> {
  const job = await jobDirectory(directory, path);
  const engine = await runJob(path);
  const made = async (of: EncodePlan, work: () => Promise<void>): Promise<Run> => {
    const cost = await measure(work);
    const top = encodedRenditions(of).at(-1);
    const file = top && (await joinSegments(job, of, top.name));
    const quality = file ? await metric.compare(job, file, SOURCE_PATH, source.video.display) : Number.NaN;
    return { ...cost, quality, bytes: await takeOutput(job) };
  };
  const bare = await made(plan, () => runBare(job, plan, settings));
  const perRendition = await made(plan, () => runPerRendition(job, plan, settings, true));
  const presetAlone = await made(plan, () => runPerRendition(job, plan, settings, false));
  const withX264 = await measure(() => runVideoFilters(job, plan, settings, true));
  const withoutX264 = await measure(() => runVideoFilters(job, plan, settings, false));
  const others: Round['codecs'] = {};
  for (const codec of codecs) {
    const alternatives = planAlternatives([codec], plan, {
      ...EIGHT_BITS,
      pixelFormat: source.video.pixelFormat,
    });
    const encode = { ...plan, packaging: PACKAGING_OF_ALTERNATIVES };
    const inOther = encodePlanIn(codec, { encode, alternatives });
    others[codec] = {
      together: await made(inOther, () => runCodec(job, { source, plan: inOther }, settings)),
      apart: await made(inOther, () => runPerRendition(job, inOther, settings, true)),
    };
  }
  await rm(job, { recursive: true });
  return {
    codecs: others,
    engine,
    bare,
    perRendition,
    presetAlone,
    x264: withX264.cpuSeconds - withoutX264.cpuSeconds,
  };
}

async function runJob(path: string): Promise<Round['engine']> {
  const videoId = await bench.store(path);
  let ffmpegEnded = Number.NaN;
  const log = bench.logger.info;
  bench.logger.info = ((event: string) => {
    if (event === 'transcode.ffmpeg_ended') ffmpegEnded = performance.now();
  }) as unknown as typeof log;
  let bytes = 0;
  const cost = await measure(async () => {
    await bench.command(videoId);
    const { renditions } = await bench.manifest(videoId);
    bytes = renditions.flatMap(({ segments }) => segments).reduce((sum, segment) => sum + segment.bytes, 0);
  });
  const secondsAfterFfmpeg = (performance.now() - ffmpegEnded) / 1000;
  bench.logger.info = log;
  return { ...cost, bytes, secondsAfterFfmpeg, progressError: progressError(videoId, cost.wallSeconds) };
}

/** The largest difference between reported progress and elapsed part of the time. */
function progressError(videoId: string, wallSeconds: number): number {
  const events = bench.events.flatMap(({ type, data, occurredAt }) =>
    'videoId' in data && data.videoId === videoId ? [{ type, data, at: Date.parse(occurredAt) / 1000 }] : [],
  );
  const end = events.find(({ type }) => type === 'task.completed')?.at ?? Number.NaN;
  const errors = events.flatMap(({ data, at }) =>
    'fraction' in data ? [Math.abs(data.fraction - (1 - (end - at) / wallSeconds))] : [],
  );
  return Math.max(0, ...errors);
}

function report(title: string, rounds: readonly Round[]): void {
  const middle = (value: (round: Round) => number) => median(rounds.map(value));
  const row = (name: string, pick: (round: Round) => Cost & { bytes: number; quality?: number }) => ({
    name,
    cpuSeconds: middle((round) => pick(round).cpuSeconds),
    wallSeconds: middle((round) => pick(round).wallSeconds),
    peakRssMb: middle((round) => pick(round).peakRssBytes / 1e6),
    outputMb: middle((round) => pick(round).bytes / 1e6),
    quality: middle((round) => pick(round).quality ?? round.bare.quality),
    cpuRatio: middle((round) => round.engine.cpuSeconds / pick(round).cpuSeconds),
    wallRatio: middle((round) => round.engine.wallSeconds / pick(round).wallSeconds),
  });
  const rows = [
    row('the complete job', ({ engine }) => engine),
    row('(a) the same ffmpeg run', ({ bare }) => bare),
    row('(b) one ffmpeg per rendition', ({ perRendition }) => perRendition),
    row('(d) the same, the preset alone', ({ presetAlone }) => presetAlone),
  ];
  for (const codec of codecs) {
    const of = (round: Round, run: 'together' | 'apart') => round.codecs[codec]?.[run] as Run;
    const ratio = middle((round) => of(round, 'together').cpuSeconds / of(round, 'apart').cpuSeconds);
    rows.push(
      row(`${codec}: the engine's run`, (round) => of(round, 'together')),
      row(`${codec}: one ffmpeg per rendition`, (round) => of(round, 'apart')),
    );
    print(`${codec}: the engine's run needs ${short(ratio)} of the CPU time of one ffmpeg per rendition`);
  }
  const x264 = {
    cpuSeconds: middle(({ x264 }) => x264),
    cpuRatio: middle((round) => round.engine.cpuSeconds / round.x264),
  };
  const secondsAfterFfmpeg = middle(({ engine }) => engine.secondsAfterFfmpeg);
  const progressError = Math.max(...rounds.map(({ engine }) => engine.progressError));
  print(`\n${title}, ${rounds.length} rounds`);
  print(line(['', 'CPU s', 'wall s', 'RSS MB', 'out MB', metric.name, 'CPU ratio', 'wall ratio']));
  for (const { name, ...figures } of rows) print(line([name, ...Object.values(figures).map(short)]));
  print(line(['(c) x264 alone', short(x264.cpuSeconds), '', '', '', '', short(x264.cpuRatio), '']));
  print(`from the end of ffmpeg to the manifest: ${short(secondsAfterFfmpeg)} s`);
  print(`reported progress and elapsed time differ by at most ${short(progressError * 100)} %`);
  print(JSON.stringify({ title, rounds: rounds.length, rows, x264, secondsAfterFfmpeg, progressError }));
}

function short(value: number): string {
  return value.toFixed(2);
}
