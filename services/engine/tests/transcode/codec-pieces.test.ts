import { join } from 'node:path';
import { joinAlternative, joinManifest } from '@framelane/contracts/joined-manifest';
import type { RenditionManifest } from '@framelane/contracts/manifest';
import type { CodecPieceTask } from '@framelane/contracts/outputs/codec-piece-task';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { PACKAGING_OF_ALTERNATIVES, PACKAGINGS } from '@framelane/contracts/packaging';
import { ALTERNATIVE_CODECS, partsOf, type VideoRendition } from '@framelane/contracts/renditions';
import {
  encodePlanIn,
  type TranscodePlan,
  type VideoRenditionPlan,
} from '@framelane/contracts/transcode-plan';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BUFFER_SECONDS } from '../../src/plan/stream-copy.ts';
import { decrypted } from '../support/hls-rules.ts';
import { ffmpegReport } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { TaskBench, type TaskVideo } from '../support/task-bench.ts';

const OTHER_SETTINGS = { threads: 1, preset: 'ultrafast', iFrames: false };

let bench: TaskBench;
let other: TaskBench;
beforeAll(async () => {
  bench = await TaskBench.start();
  other = await TaskBench.start(OTHER_SETTINGS);
  for (const each of [bench, other]) {
    each.packaging = PACKAGING_OF_ALTERNATIVES;
    each.codecs = ALTERNATIVE_CODECS;
  }
});
afterAll(() => Promise.all([bench.stop(), other.stop()]));

const PIECE_SECONDS = 4;
const START_TIMESTAMP = PACKAGINGS[PACKAGING_OF_ALTERNATIVES].startTimestamp;

/** Of 8 bits. A copied source without tags of colour has those of BT.601, which AV1's says. */
const CODEC_STRINGS = {
  av1: /^av01\.0\.\d\dM\.08(\.0\.111\.06\.06\.06\.0)?$/,
  hevc: /^hvc1\.1\.6\.L\d+\.90$/,
};

type Source = Clip & { file: string; pieces: number; copies: boolean };

const SOURCES: Record<string, Source> = {
  'a long video whose top is a stream copy, with B-frames': {
    file: 'copied.mp4',
    video: 'testsrc2=s=640x360:r=25:d=13',
    options: ['-preset', 'veryfast', '-b:v', '400k', '-maxrate', '700k', '-bufsize', '700k', '-g', '50'],
    pieces: 2,
    copies: true,
  },
  'portrait video at 60 frames a second, whose lower renditions have half of them': {
    file: 'portrait.mkv',
    video: 'testsrc2=s=480x854:r=60000/1001:d=4.2',
    options: ['-c:v', 'mpeg4', '-q:v', '4'],
    pieces: 1,
    copies: false,
  },
  'a short video': {
    file: 'short.mp4',
    video: 'testsrc2=s=320x180:r=24000/1001:d=3',
    options: ['-c:v', 'mpeg4'],
    pieces: 1,
    copies: false,
  },
  'a video that ends with a short segment': {
    file: 'odd.mp4',
    video: 'testsrc2=s=426x240:r=25:d=9.16',
    options: ['-x264-params', 'open-gop=1:keyint=25'],
    pieces: 2,
    copies: false,
  },
};

/** No encoder can predict it. The first needs all bits from the beginning on, the second after a part that has left the buffer empty. */
const NOISE: Record<string, string> = {
  noise: 'testsrc2=s=320x180:r=25:d=13,noise=alls=100:allf=t',
  'noise after a calm part':
    'color=gray:s=320x180:r=25:d=4[calm];testsrc2=s=320x180:r=25:d=9,noise=alls=100:allf=t[noise];[calm][noise]concat',
};

/** The presentation times of the frames of a file, in seconds. */
async function timesOf(path: string): Promise<number[]> {
  const { stdout } = await runProgram('ffprobe', [
    ...['-v', 'error', '-select_streams', 'v', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0', path],
  ]);
  return stdout.split('\n').filter(Boolean).map(Number.parseFloat);
}

/** The structural similarity of two files with the same frames. */
async function similarity(path: string, to: string): Promise<number> {
  const report = await ffmpegReport('-i', path, '-i', to, '-lavfi', '[0:v][1:v]ssim');
  return Number(/All:([\d.]+)/.exec(report)?.[1]);
}

function codecPieces({ tasks, optionalTasks }: TranscodePlan): { position: number; work: CodecPieceTask }[] {
  return [...tasks, ...optionalTasks].flatMap((work, position) =>
    work.kind === 'codec_piece' ? [{ position, work }] : [],
  );
}

/** A rendition in H.264, its file, and the times of its frames. */
type PlainRendition = { rendition: RenditionManifest; path: string; times: number[] };

/** Runs all tasks of a plan that its video waits for, or makes its segments as one piece would. */
async function plainRenditions(video: TaskVideo, plan: TranscodePlan): Promise<RenditionManifest[]> {
  const results: TaskResult[] = [];
  for (const position of plan.tasks.keys()) results.push(await bench.runTask({ video, plan, position }));
  return joinManifest(plan, results).renditions.filter(({ width }) => width !== null);
}

describe.each(Object.entries(SOURCES))('%s', (_, { file, pieces, copies, ...clip }) => {
  let video: TaskVideo;
  let plan: TranscodePlan;
  /** Null for a video without tasks. */
  let plain: PlainRendition[] | null = null;
  beforeAll(async () => {
    const path = await makeClip(join(bench.directory, file), clip);
    video = await bench.store(path);
    ({ plan } = await bench.plan(video, PIECE_SECONDS));
    expect(plan.encode.copiesVideo).toBe(copies);
    if (plan.tasks.length === 0) return;
    plain = [];
    for (const rendition of await plainRenditions(video, plan)) {
      const ofPlain = await renditionFile(bench, video.videoId, rendition);
      plain.push({ rendition, path: ofPlain, times: await timesOf(ofPlain) });
    }
  });

  test.each(ALTERNATIVE_CODECS)('has the same frames at the same times in %s', async (codec) => {
    const own = codecPieces(plan).filter(({ work }) => work.codec === codec);
    expect(own).toHaveLength(pieces);
    const results: TaskResult[] = [];
    for (const { position } of own.toReversed()) results.push(await bench.runTask({ video, plan, position }));
    const made = joinAlternative(codec, plan, results, START_TIMESTAMP);
    expect(made.map(({ name }) => partsOf(name as VideoRendition).rung)).toEqual(
      plan.encode.videoRenditions.map(({ name }) => name),
    );
    for (const [at, rendition] of made.entries()) {
      expect(rendition.codecs).toMatch(CODEC_STRINGS[codec]);
      const path = await renditionFile(bench, video.videoId, rendition);
      const times = await timesOf(path);
      const { frames, frameRate, videoRenditions } = plan.encode;
      const step = videoRenditions[at]?.frameStep ?? 1;
      expect(times).toHaveLength(Math.ceil(frames / step));
      const second = (step * frameRate.denominator) / frameRate.numerator;
      const late = times.map((time, frame) => Math.abs(time - (times[0] ?? 0) - frame * second));
      expect(Math.max(...late)).toBeLessThan(0.001);
      if (plain === null) continue;
      const ofPlain = plain[at] as PlainRendition;
      expect(rendition.segments.map(({ duration }) => duration.toFixed(3))).toEqual(
        ofPlain.rendition.segments.map(({ duration }) => duration.toFixed(3)),
      );
      const { width, height } = ofPlain.rendition;
      expect([rendition.width, rendition.height]).toEqual([width, height]);
      expect(ofPlain.times[0]).toBeCloseTo(times[0] ?? 0, 3);
      expect(await similarity(path, ofPlain.path)).toBeGreaterThan(0.93);
    }
  });
});

test.each(ALTERNATIVE_CODECS)('a piece in %s is the same on an engine with other settings', async (codec) => {
  const clip = { video: 'testsrc2=s=640x360:r=25:d=9', options: ['-c:v', 'mpeg4', '-q:v', '2'] };
  const path = await makeClip(join(bench.directory, `${codec}.mp4`), clip);
  const video = await bench.store(path);
  const { plan } = await bench.plan(video, PIECE_SECONDS);
  const second = await other.store(path);
  const [last] = codecPieces(plan)
    .filter(({ work }) => work.codec === codec)
    .slice(-1);
  const position = last?.position ?? -1;
  const { renditions = [] } = await bench.runTask({ video, plan, position });
  const ofOther = await other.runTask({ video: second, plan, position });
  expect(ofOther.renditions).toEqual(renditions);
  expect(renditions.map(({ name, first }) => [name, first])).toEqual([
    [`360p-${codec}`, last?.work.firstSegment],
  ]);
  for (const { name, first, segments } of renditions) {
    const numbers = [...segments.keys()].map((at) => first + at);
    expect(await decrypted(other, second.videoId, { name, segments }, numbers)).toEqual(
      await decrypted(bench, video.videoId, { name, segments }, numbers),
    );
  }
});

describe('a source with 10 bits a sample', () => {
  let rich: TaskBench;
  beforeAll(async () => {
    rich = await TaskBench.start({ tenBit: true, keepsHdr: true });
    rich.packaging = PACKAGING_OF_ALTERNATIVES;
    rich.codecs = ALTERNATIVE_CODECS;
  });
  afterAll(() => rich.stop());

  const TAGS: Record<string, string> = {
    sdr: 'colorspace=bt709:color_primaries=bt709:color_trc=bt709',
    pq: 'colorspace=bt2020nc:color_primaries=bt2020:color_trc=smpte2084',
    hlg: 'colorspace=bt2020nc:color_primaries=bt2020:color_trc=arib-std-b67',
  };

  async function sourceOf(name: string, depth: string): Promise<string> {
    const filters = `setparams=range=tv:${TAGS[name]}`;
    const options = [
      ...['-vf', filters, '-pix_fmt', `yuv420p${depth}`],
      '-c:v',
      'libx265',
      '-preset',
      'ultrafast',
      '-x265-params',
      'log-level=none',
    ];
    const clip = { video: 'smptebars=s=320x180:r=25:d=3', options };
    return makeClip(join(rich.directory, `${name}${depth}.mp4`), clip);
  }

  /** Plans a video, and makes its rendition in each codec. */
  async function madeBy(maker: TaskBench, path: string) {
    const video = await maker.store(path);
    const { plan } = await maker.plan(video, PIECE_SECONDS);
    return Promise.all(
      codecPieces(plan).map(async ({ position, work }) => {
        const result = await maker.runTask({ video, plan, position });
        const [rendition] = joinAlternative(work.codec, plan, [result], START_TIMESTAMP);
        const file = await renditionFile(maker, video.videoId, rendition);
        const { stdout } = await runProgram('ffprobe', [
          ...[
            '-v',
            'error',
            '-show_entries',
            'stream=pix_fmt,color_space,color_transfer,color_primaries,color_range',
          ],
          ...['-of', 'json', file],
        ]);
        const [stream] = (JSON.parse(stdout) as { streams: Record<string, string>[] }).streams;
        return { codec: work.codec, rendition, stream, file };
      }),
    );
  }

  test.each([
    ['sdr', undefined, 'bt709', ['av01.0.00M.10', 'hvc1.2.4.L60.90']],
    ['pq', 'PQ', 'smpte2084', ['av01.0.00M.10.0.111.09.16.09.0', 'hvc1.2.4.L60.90']],
    ['hlg', 'HLG', 'arib-std-b67', ['av01.0.00M.10.0.111.09.18.09.0', 'hvc1.2.4.L60.90']],
  ])('keeps 10 bits and its dynamic range: %s', async (name, videoRange, transfer, codecs) => {
    const path = await sourceOf(name, '10le');
    const made = await madeBy(rich, path);
    expect(made.map(({ rendition }) => rendition?.videoRange)).toEqual([videoRange, videoRange]);
    expect(made.map(({ rendition }) => rendition?.codecs)).toEqual(codecs);
    for (const { stream, file } of made) {
      expect(stream).toMatchObject({ pix_fmt: 'yuv420p10le', color_transfer: transfer, color_range: 'tv' });
      expect(await similarity(file, path)).toBeGreaterThan(0.97);
    }
  });

  test('has 8 bits and the standard range unless the engine is set otherwise', async () => {
    for (const name of ['sdr', 'pq'])
      for (const { stream, rendition } of await madeBy(bench, await sourceOf(name, '10le'))) {
        expect(stream).toMatchObject({ pix_fmt: 'yuv420p', color_transfer: 'bt709' });
        expect(rendition?.videoRange).toBeUndefined();
      }
  });

  test('with 8 bits keeps them', async () => {
    for (const { stream } of await madeBy(rich, await sourceOf('sdr', '')))
      expect(stream?.pix_fmt).toBe('yuv420p');
  });
});

/**
 * The most bits that consecutive segments have beyond a bit rate, as a part of the decoder's buffer at that rate: the buffer holds them if it is at most
 * one.
 */
function fullestBuffer(segments: RenditionManifest['segments'], maxRate: number): number {
  let [fullness, fullest] = [0, 0];
  for (const { bytes, duration } of segments) {
    fullness = Math.max(0, fullness + 8 * bytes - duration * maxRate);
    fullest = Math.max(fullest, fullness / (BUFFER_SECONDS * maxRate));
  }
  return fullest;
}

describe.each(Object.entries(NOISE))('%s', (_, video) => {
  test.each(ALTERNATIVE_CODECS)('stays within the maximum bit rate in %s', async (codec) => {
    const clip = { video, options: ['-c:v', 'mpeg4', '-q:v', '2'] };
    const path = await makeClip(join(bench.directory, `noise-${codec}.mkv`), clip);
    for (const pieceSeconds of [PIECE_SECONDS, Number.MAX_SAFE_INTEGER]) {
      const stored = await bench.store(path);
      const { plan } = await bench.plan(stored, pieceSeconds);
      const own = codecPieces(plan).filter(({ work }) => work.codec === codec);
      expect(own.length > 1).toBe(pieceSeconds === PIECE_SECONDS);
      const results: TaskResult[] = [];
      for (const { position } of own) results.push(await bench.runTask({ video: stored, plan, position }));
      const [made] = joinAlternative(codec, plan, results, 90_000 * 10);
      const [{ maxRate }] = encodePlanIn(codec, plan).videoRenditions as [VideoRenditionPlan];
      const segments = made?.segments ?? [];
      const rates = segments.map(({ bytes, duration }) => (8 * bytes) / duration);
      // Without the limit, it would be several times as much.
      expect(Math.max(...rates)).toBeGreaterThan(0.5 * maxRate);
      expect(fullestBuffer(segments, maxRate)).toBeLessThan(1);
    }
  });
});
