import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { joinAlternative } from '@framelane/contracts/joined-manifest';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { PACKAGING_OF_ALTERNATIVES, PACKAGINGS } from '@framelane/contracts/packaging';
import { ALTERNATIVE_CODECS, type AlternativeCodec } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { unitsOf } from '../../src/encoders/av1/obus.ts';
import { obu } from '../support/encoded-units.ts';
import { decrypted, expectHlsRules } from '../support/hls-rules.ts';
import { madeVideo } from '../support/made-video.ts';
import { ffprobe } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { TaskBench, type TaskVideo } from '../support/task-bench.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: TaskBench;
beforeAll(async () => {
  bench = await TaskBench.start({ preset: 'ultrafast' });
  bench.packaging = PACKAGING_OF_ALTERNATIVES;
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const PIECE_SECONDS = 3;

/** Most of the frame is black, which takes little time to encode. */
const VIDEO = 'testsrc2=s=160x160:r=25:d=9,pad=854:480';
/** Frames do not begin at whole seconds. */
const NTSC = VIDEO.replace('r=25', 'r=30000/1001');
const TAGS = [
  '-colorspace',
  'bt709',
  '-color_primaries',
  'bt709',
  '-color_trc',
  'bt709',
  '-color_range',
  'tv',
];
const x265 = (params: string, ...others: string[]) => [
  ...['-c:v', 'libx265', '-preset', 'ultrafast', ...TAGS, ...others],
  ...['-x265-params', `keyint=50:min-keyint=50:scenecut=0:log-level=none:${params}`],
];
const CLOSED = x265('open-gop=0', '-tag:v', 'hvc1');
const AOM = ['-c:v', 'libaom-av1', '-cpu-used', '8', '-row-mt', '1', '-b:v', '200k', '-g', '50', ...TAGS];
const SVT = ['-c:v', 'libsvtav1', '-preset', '12', '-crf', '45', '-g', '50', ...TAGS];

type Made = { video: TaskVideo; plan: TranscodePlan; manifest: Manifest; ofCodec: RenditionManifest[] };

/** Transcodes a video, and makes it in a codec. The manifest has all renditions. */
async function make(path: string, codec: AlternativeCodec): Promise<Made> {
  bench.codecs = [codec];
  const video = await bench.store(path);
  const plan = await bench.taskPlan(video, PIECE_SECONDS);
  const results: TaskResult[] = [];
  for (const position of [...plan.tasks, ...plan.optionalTasks].keys())
    results.push(await bench.runTask({ video, plan, position }));
  const manifest = madeVideo(plan, results.slice(0, plan.tasks.length));
  const { startTimestamp } = PACKAGINGS[PACKAGING_OF_ALTERNATIVES];
  const ofCodec = joinAlternative(codec, plan, results.slice(plan.tasks.length), startTimestamp);
  const isVideo = ({ width }: RenditionManifest) => width !== null;
  const { renditions } = manifest;
  const all = [...renditions.filter(isVideo), ...ofCodec, ...renditions.filter((each) => !isVideo(each))];
  return { video, plan, ofCodec, manifest: { ...manifest, renditions: all } };
}

/** Hashes of all decoded frames of a file. */
async function framesOf(path: string): Promise<string[]> {
  const listing = `${path}.hashes`;
  await ffmpeg('-i', path, '-map', '0:v', '-f', 'framehash', '-hash', 'murmur3', listing);
  const lines = (await readFile(listing, 'utf8')).split('\n').filter((line) => /^\d/.test(line));
  return lines.map((line) => line.split(',').at(-1)?.trim() ?? '');
}

type Stream = { codec_tag_string: string; color_space: string; color_primaries: string };
const streamOf = async (path: string): Promise<Stream | undefined> => {
  const { streams } = await ffprobe<{ streams: Stream[] }>('-show_entries', 'stream', path);
  return streams[0];
};

const kindsOf = ({ optionalTasks }: TranscodePlan, codec: AlternativeCodec) =>
  optionalTasks.flatMap((task) => ('codec' in task && task.codec === codec ? [task.kind] : []));

type Fitting = { codec: AlternativeCodec; file: string; clip: Clip; codecs: RegExp; durations?: number[] };

const FITTING: Record<string, Fitting> = {
  'x265 with closed groups of pictures': {
    codec: 'hevc',
    file: 'closed.mp4',
    clip: { video: VIDEO, options: CLOSED },
    codecs: /^hvc1\.1\.6\.L90\.90$/,
  },
  'x265 with parameter sets that may be in its frames, but are not (hev1), and more key frames than it needs':
    {
      codec: 'hevc',
      file: 'hev1.mov',
      clip: {
        video: NTSC,
        audio: 'sine=d=9',
        options: [...x265('open-gop=0:bframes=0:keyint=30:min-keyint=30', '-tag:v', 'hev1')],
      },
      durations: [2.002, 2.002, 4.004, 1.001],
      codecs: /^hvc1\.1\.6\.L90\.90$/,
    },
  'SVT-AV1': {
    codec: 'av1',
    file: 'svt.mp4',
    clip: { video: VIDEO, options: SVT },
    codecs: /^av01\.0\.\d\dM\.08$/,
  },
  'libaom, with frames that are not shown': {
    codec: 'av1',
    file: 'aom.mkv',
    clip: { video: VIDEO, options: [...AOM, '-lag-in-frames', '19'] },
    codecs: /^av01\.0\.\d\dM\.08$/,
  },
};

describe.each(Object.entries(FITTING))('an upload of %s', (_, fitting) => {
  const { codec, file, clip, codecs, durations = [2, 2, 4, 1] } = fitting;

  test('is its own top rendition, beside encoded ones with the same segments', async () => {
    const path = await makeClip(inBench(file), clip);
    const { video, plan, manifest, ofCodec } = await make(path, codec);
    expect(plan.encode).toMatchObject({ copiesVideo: false, copiedAlternative: codec });
    expect(kindsOf(plan, codec)).toEqual(['codec_copy', 'codec_piece', 'codec_piece']);
    await expectHlsRules(bench, video.videoId, manifest);
    const [lower, top] = ofCodec;
    expect(top?.codecs).toMatch(codecs);
    expect(top?.segments.map(({ duration }) => duration)).toEqual(durations);
    const source = await framesOf(path);
    const copy = await renditionFile(bench, video.videoId, top);
    expect(await framesOf(copy)).toEqual(source);
    expect(await framesOf(await renditionFile(bench, video.videoId, lower))).toHaveLength(source.length);
    const { codec_tag_string, color_space, color_primaries } = (await streamOf(copy)) ?? {};
    expect([color_space, color_primaries]).toEqual(['bt709', 'bt709']);
    expect(['hvc1', 'av01']).toContain(codec_tag_string);
    // x265 writes its version and all settings into a message.
    expect((await readFile(copy)).includes('x265')).toBe(false);
  });
});

test('a video with one rung has nothing to encode in the codec of its source', async () => {
  const clip = { video: 'testsrc2=s=320x180:r=25:d=9', options: CLOSED };
  bench.codecs = ALTERNATIVE_CODECS;
  const { plan } = await bench.plan(await bench.store(await makeClip(inBench('one.mp4'), clip)), 2);
  expect(kindsOf(plan, 'hevc')).toEqual(['codec_copy']);
  expect(kindsOf(plan, 'av1').includes('codec_copy')).toBe(false);
});

test('metadata of AV1 are left out', async () => {
  const stream = await makeClip(inBench('plain.obu'), { video: VIDEO, options: SVT });
  const isDelimiter = ({ type }: { type: number }) => type === 2;
  const secret = obu(5, Buffer.from('\u0004\u00b5secret\u0080', 'latin1'));
  const units = unitsOf(await readFile(stream));
  const parts = units.flatMap((unit) => (isDelimiter(unit) ? [unit.bytes, secret] : [unit.bytes]));
  await writeFile(inBench('secret.obu'), Buffer.concat(parts));
  await ffmpeg('-framerate', '25', '-i', inBench('secret.obu'), '-c', 'copy', inBench('secret.mp4'));
  expect((await readFile(inBench('secret.mp4'))).includes('secret')).toBe(true);
  const { video, plan, ofCodec } = await make(inBench('secret.mp4'), 'av1');
  expect(plan.encode.copiedAlternative).toBe('av1');
  const [, top] = ofCodec as [RenditionManifest, RenditionManifest];
  const segments = await decrypted(bench, video.videoId, top, [...top.segments.keys()]);
  for (const segment of [...segments, Buffer.from(top.initialization ?? '', 'base64')])
    expect(segment.includes('secret')).toBe(false);
});

/** Why no rendition is to be a copy of a file, if none is. */
async function obstacleOf(path: string): Promise<string | null> {
  bench.codecs = ALTERNATIVE_CODECS;
  const { plan, obstacles } = await bench.plan(await bench.store(path), PIECE_SECONDS);
  expect(plan.encode.copiedAlternative === undefined).toBe(obstacles.video !== null);
  return obstacles.video;
}

const SHORT = 'testsrc2=s=160x90:r=25:d=5';
/** Another stream can follow it, with a key frame where one is due. */
const FOUR_SECONDS = 'testsrc2=s=160x90:r=25:d=4';
/** No encoder can predict it. */
const NOISE = 'testsrc2=s=320x180:r=25:d=5,noise=alls=100:allf=t';

type Refused = [obstacle: string, file: string, video: string, options: readonly string[]];

const REFUSED: Record<string, Refused> = {
  'open groups of pictures': ['open_gop', 'open.mp4', SHORT, x265('open-gop=1')],
  // A decoder may begin there, but later frames may look behind.
  'clean random accesses': ['parameter_sets', 'cra.mp4', SHORT, x265('open-gop=1:bframes=0')],
  'a high bit rate': ['bit_rate', 'noise.mp4', NOISE, x265('open-gop=0:qp=20')],
  'a size that no rung has': ['size', 'odd.mp4', 'testsrc2=s=800x450:r=25:d=5', x265('open-gop=0')],
  '10 bits': ['profile', 'ten.mp4', SHORT, [...x265('open-gop=0'), '-pix_fmt', 'yuv420p10le']],
  'key frames far apart': ['segments', 'sparse.mp4', SHORT, [...SVT, '-g', '60']],
  'the colours of standard definition': ['colour', 'sd.mp4', SHORT, [...SVT, '-colorspace', 'smpte170m']],
};

test.each(Object.entries(REFUSED))('an upload with %s is encoded', async (_, refused) => {
  const [obstacle, file, video, options] = refused;
  expect(await obstacleOf(await makeClip(inBench(file), { video, options }))).toBe(obstacle);
});

describe('an upload of one stream after another', () => {
  /** Elementary streams as one file. */
  async function joined(name: string, format: string, parts: readonly string[][]): Promise<string> {
    const streams: Buffer[] = [];
    for (const [at, options] of parts.entries()) {
      const path = inBench(`${name}-${at}.${format}`);
      streams.push(await readFile(await makeClip(path, { video: FOUR_SECONDS, options })));
    }
    const all = inBench(`${name}.${format}`);
    await writeFile(all, Buffer.concat(streams));
    await ffmpeg('-f', format, '-framerate', '25', '-i', all, '-c', 'copy', inBench(`${name}.mp4`));
    return inBench(`${name}.mp4`);
  }

  test.each([
    ['with the same sequence header is copied', 'same', SVT, null],
    ['with another sequence header is encoded', 'other', AOM, 'parameter_sets'],
  ])('%s', async (_, name, second, obstacle) => {
    expect(await obstacleOf(await joined(name, 'obu', [SVT, second]))).toBe(obstacle);
  });

  const closed = x265('open-gop=0:bframes=0');

  test.each([
    ['av1', 'obu', SVT, AOM],
    ['hevc', 'hevc', closed, x265('open-gop=0:bframes=0:ctu=16')],
  ] as const)(
    'is encoded in %s if that is found after it was planned',
    async (codec, format, first, second) => {
      bench.codecs = [codec];
      const clip = { video: FOUR_SECONDS.replace('d=4', 'd=8'), options: first };
      const own = await makeClip(inBench(`planned-${codec}.mp4`), clip);
      const { plan } = await bench.plan(await bench.store(own), Number.MAX_SAFE_INTEGER);
      const position = plan.optionalTasks.findIndex(({ kind }) => kind === 'codec_copy');
      const warnings = bench.warningsOf('transcode.copy_failed');
      const copied = await bench.runTask({ video: await bench.store(own), plan, position });
      expect(warnings).toEqual([]);
      const video = await bench.store(await joined(`changing-${codec}`, format, [[...first], [...second]]));
      const encoded = await bench.runTask({ video, plan, position });
      expect(warnings).toMatchObject([{ error: { name: 'InvalidSegmentError' } }]);
      for (const { renditions } of [copied, encoded])
        expect(renditions?.map(({ segments }) => segments.length)).toEqual([3]);
    },
  );

  test('with parameter sets in its frames is encoded', async () => {
    expect(await obstacleOf(await joined('sets', 'hevc', [closed, closed]))).toBe('parameter_sets');
  });
});

/** Damages the packet of a frame. */
async function damage(path: string, frame: number, change: (packet: Buffer) => void): Promise<string> {
  const { packets } = await ffprobe<{ packets: { pos: string; size: string }[] }>(
    ...['-select_streams', 'v', '-show_entries', 'packet=pos,size', path],
  );
  const file = await readFile(path);
  const { pos, size } = packets[frame] ?? { pos: '', size: '' };
  change(file.subarray(Number(pos), Number(pos) + Number(size)));
  await writeFile(path, file);
  return path;
}

const DAMAGES = {
  // The length of the first NAL unit.
  hevc: { options: CLOSED, change: (packet: Buffer) => void packet.writeUInt32BE(0x7fffffff) },
  // The size of the first unit.
  av1: { options: SVT, change: (packet: Buffer) => void packet.writeUInt16BE(0xffff, 1) },
};

test.each(ALTERNATIVE_CODECS)('a copy in %s with a damaged frame is encoded instead', async (codec) => {
  const { options, change } = DAMAGES[codec];
  const clip = await makeClip(inBench(`damaged-${codec}.mp4`), { video: VIDEO, options });
  const warnings = bench.warningsOf('transcode.copy_failed');
  const { video, plan, manifest, ofCodec } = await make(await damage(clip, 80, change), codec);
  expect(plan.encode.copiedAlternative).toBe(codec);
  expect(warnings).toHaveLength(1);
  await expectHlsRules(bench, video.videoId, manifest);
  expect(ofCodec.map(({ segments }) => segments.length)).toEqual([4, 4]);
  expect(await framesOf(await renditionFile(bench, video.videoId, ofCodec[1]))).toHaveLength(225);
});

describe('a video that is made as a whole', () => {
  let worker: WorkerBench;
  beforeAll(async () => {
    worker = await WorkerBench.start();
    worker.packaging = PACKAGING_OF_ALTERNATIVES;
  });
  afterAll(() => worker.stop());

  async function transcode(codec: AlternativeCodec, path: string) {
    worker.codecs = [codec];
    const warnings = worker.warningsOf('transcode.copy_failed');
    const { videoId, manifest } = await worker.transcode(path);
    await expectHlsRules(worker, videoId, manifest);
    const plan = worker.plans.get(videoId) as TranscodePlan;
    return { plan, warnings, durations: manifest.renditions[0]?.segments.map(({ duration }) => duration) };
  }

  test('is cut where the source has key frames, which are not at whole seconds', async () => {
    const options = CLOSED.map((each) => each.replaceAll('=50', '=30'));
    const made = await transcode('hevc', await makeClip(inBench('ntsc.mp4'), { video: NTSC, options }));
    expect(made.plan.encode.copiedAlternative).toBe('hevc');
    expect(made.durations).toEqual([2.002, 2.002, 4.004, 1.001]);
    expect(made.warnings).toEqual([]);
  });

  test.each(ALTERNATIVE_CODECS)(
    'does not need the key frames of its source: one in %s is damaged',
    async (codec) => {
      const { options, change } = DAMAGES[codec];
      const clip = await makeClip(inBench(`key-${codec}.mp4`), { video: VIDEO, options });
      const made = await transcode(codec, await damage(clip, 100, change));
      expect(made.plan.encode.copiedAlternative).toBe(codec);
      expect(made.durations).toEqual([2, 2, 4, 1]);
      expect(made.warnings).toEqual([]);
    },
  );
});
