/** Unusual AV1 and HEVC becomes right pictures, or is refused for a named reason. `hostile-av1-and-hevc` has files that nobody makes by intent. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bytesOf, FRAME_HEADER, inLayer, obusOf, withTwoLayers } from '../support/av1.ts';
import { SPS, streamOf, unitsOf, unitType, withSize } from '../support/hevc.ts';
import { frameAt, greyFrames } from '../support/media.ts';
import { box, withDisplayMatrix } from '../support/mp4-boxes.ts';
import {
  CODECS,
  type Codec,
  FRAMES,
  HEVC_CLIP,
  hevcWith,
  KEY_FRAMES,
  quarterClip,
  quarterMp4,
  SIZE,
  withAv1Headers,
  withEntryBoxes,
  withSequenceHeaders,
  withUnits,
} from '../support/quarter-clips.ts';
import { coloursOf, nameOf, QUARTERS, quartered, quarters } from '../support/quarters.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { samplesOf, withSamples } from '../support/samples.ts';
import { type Outcome, transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const clipOf = (codec: Codec, kind: string, ...options: string[]) =>
  quarterClip(bench.directory, codec, kind, options);
const mp4Of = (codec: Codec, ...options: string[]) => quarterMp4(bench.directory, codec, ...options);

async function written(name: string, content: Buffer): Promise<string> {
  await writeFile(inBench(name), content);
  return inBench(name);
}

/** Expects that the first frame of a file has the colours of the quarters, and that it has as many frames as the clip unless `outcome` says otherwise. */
async function expectQuarters(path: string, outcome: Partial<Outcome> = {}, names = QUARTERS): Promise<void> {
  const made = await transcodeByTheRules(bench, path);
  expect(made.outcome).toMatchObject({
    renditions: ['360p 320x180'],
    frames: FRAMES,
    issues: [],
    ...outcome,
  });
  expect((await quarters(bench, made.videoId, made.manifest)).map(nameOf)).toEqual(names);
}

/** Expects that each of these frames of a file has the colours of the quarters. */
async function expectQuartersIn(path: string, numbers: readonly number[], outcome: Partial<Outcome>) {
  const made = await transcodeByTheRules(bench, path);
  expect(made.outcome).toMatchObject(outcome);
  const file = await renditionFile(bench, made.videoId, made.manifest.renditions[0]);
  for (const number of numbers)
    expect(coloursOf(await frameAt(file, number), SIZE).map(nameOf)).toEqual(QUARTERS);
}

const GREY = ['grey', 'grey', 'grey', 'grey'];

/** Pixel format, issues, and the colours if they are not those of the quarters. */
const FORMATS: [format: string, issues: string[], colours?: string[]][] = [
  ['yuv422p10le', ['high_bit_depth', 'chroma_subsampling']],
  ['yuv444p', ['chroma_subsampling']],
  ['yuv444p12le', ['high_bit_depth', 'chroma_subsampling']],
  ['gbrp', ['chroma_subsampling']],
  ['gbrp12le', ['high_bit_depth', 'chroma_subsampling']],
  ['gray', [], GREY],
  ['gray12le', ['high_bit_depth'], GREY],
];

test.each(CODECS.flatMap((codec) => FORMATS.map((format) => [codec, ...format] as const)))(
  '%s in %s has the right colours',
  async (codec, format, issues, colours = QUARTERS) => {
    await expectQuarters(await clipOf(codec, 'mp4', '-pix_fmt', format), { issues }, colours);
  },
);

test.each(CODECS)('%s in full range has the right colours', async (codec) => {
  const range = ['-vf', 'scale=out_range=pc', '-pix_fmt', 'yuv420p', '-color_range', 'pc'];
  await expectQuarters(await clipOf(codec, 'mp4', ...range));
});

test.each([
  ['hevc', 'yuv444p', ['chroma_subsampling']],
  ['av1', 'yuv420p', []],
] as const)('%s of an odd size gets an even one', async (codec, format, issues) => {
  const odd = await clipOf(codec, 'mp4', '-vf', 'scale=321:181', '-pix_fmt', format);
  await expectQuarters(odd, { issues: [...issues] });
});

test.each(CODECS)('%s is turned as the container says', async (codec) => {
  const turned = withDisplayMatrix(await mp4Of(codec), [0, 1, -1, 0]);
  const renditions = ['360p 180x320'];
  await expectQuarters(await written('turned.mp4', turned), { renditions }, ['blue', 'red', 'grey', 'green']);
});

/** A configuration record of Dolby Vision, version 1.0, level 1, with RPU and base layer. The clips have no RPU. */
function dolbyVision(profile: number, compatibility: number): Buffer {
  const record = Buffer.alloc(24);
  record.set([1, 0, profile << 1, (1 << 3) | 0b101, compatibility << 4]);
  return box(profile > 7 ? 'dvvC' : 'dvcC', record);
}

async function dolbyClip(codec: Codec, profile: number, compatibility: number): Promise<string> {
  const clip = await mp4Of(codec, '-pix_fmt', 'yuv420p10le');
  const record = dolbyVision(profile, compatibility);
  return written(
    'dolby.mp4',
    withEntryBoxes(clip, codec, (boxes) => Buffer.concat([boxes, record])),
  );
}

async function expectDolbyRefusal(path: string): Promise<void> {
  const message = expect.stringContaining('Dolby Vision');
  expect(await bench.refuse(path)).toMatchObject({ code: 'unsupported_codec', retryable: false, message });
}

test.each<[Codec, number, number]>([
  ['hevc', 8, 1],
  ['hevc', 8, 4],
  ['hevc', 7, 6],
  // Early records of these profiles have no compatibility id.
  ['hevc', 7, 0],
  ['hevc', 4, 0],
  ['av1', 10, 1],
  ['av1', 10, 4],
])('%s with Dolby Vision %i.%i is its base layer', async (codec, profile, compatibility) => {
  await expectQuarters(await dolbyClip(codec, profile, compatibility), { issues: ['high_bit_depth'] });
});

test.each<[Codec, number]>([
  ['hevc', 5],
  ['hevc', 8],
  ['av1', 10],
])('%s with Dolby Vision %i.0 has no base layer to show', async (codec, profile) => {
  await expectDolbyRefusal(await dolbyClip(codec, profile, 0));
});

test('HEVC in the sample entry of Dolby Vision without a record has no base layer to show', async () => {
  const file = await mp4Of('hevc', '-pix_fmt', 'yuv420p10le');
  file.write('dvh1', file.indexOf('hvc1', file.indexOf('stsd')), 'latin1');
  await expectDolbyRefusal(await written('dvh1.mp4', file));
});

/** Joins elementary streams, and puts them into a container. */
async function joined(codec: Codec, name: string, parts: readonly string[][]): Promise<string> {
  const [raw, kind] = codec === 'hevc' ? ['hevc', 'ts'] : ['obu', 'mkv'];
  const streams = await Promise.all(
    parts.map(async (options) => readFile(await clipOf(codec, raw, ...options))),
  );
  const stream = await written(`${name}.${raw}`, Buffer.concat(streams));
  await ffmpeg('-f', raw, '-framerate', '25', '-i', stream, '-c', 'copy', inBench(`${name}.${kind}`));
  return inBench(`${name}.${kind}`);
}

test.each(CODECS)(
  '%s that changes its format and its size within the file keeps its colours',
  async (codec) => {
    const formats = ['yuv420p', 'yuv444p12le', 'gbrp', 'yuv420p10le'].map((format) => ['-pix_fmt', format]);
    const parts = [...formats, ['-vf', 'scale=640:360', '-pix_fmt', 'yuv420p']];
    const middles = [...parts.keys()].map((part) => part * FRAMES + FRAMES / 2);
    await expectQuartersIn(await joined(codec, 'changing', parts), middles, {
      renditions: ['360p 320x180'],
      frames: FRAMES * parts.length,
      issues: [],
    });
  },
);

const STANDARD_RANGE = hevcWith(HEVC_CLIP);
const UNTAGGED_HIGH_RANGE = hevcWith(`${HEVC_CLIP}:transfer=smpte2084`);
const HIGH_RANGE = hevcWith(`${HEVC_CLIP}:transfer=smpte2084:colorprim=bt2020:colormatrix=bt2020nc`);

test('high dynamic range whose only tag is its transfer function is mapped to standard range', async () => {
  const clip = await clipOf('hevc', 'mp4', '-pix_fmt', 'yuv420p10le', ...UNTAGGED_HIGH_RANGE);
  await expectQuarters(clip, { issues: ['hdr', 'high_bit_depth'] });
});

test.each([
  ['begins', [STANDARD_RANGE, HIGH_RANGE], []],
  ['ends', [HIGH_RANGE, STANDARD_RANGE], ['hdr']],
])('where high dynamic range %s within the file, the first frame decides', async (name, ranges, issues) => {
  const parts = ranges.map((encoder) => ['-pix_fmt', 'yuv420p10le', ...encoder]);
  await expectQuartersIn(await joined('hevc', name, parts), [0, FRAMES - 1], {
    frames: 2 * FRAMES,
    issues: [...issues, 'high_bit_depth'],
  });
});

test.each([
  ['65528×65528', 65_528],
  ['8192×4096', 8192],
])('later parameter sets of HEVC for %s change nothing but their frames', async (_, side) => {
  const units = unitsOf(await readFile(await clipOf('hevc', 'hevc', '-pix_fmt', 'yuv420p')));
  const first = units.findIndex((unit) => unitType(unit) === SPS);
  const size = { width: side, height: Math.min(side, 4096) };
  const changed = units.map((unit, at) =>
    unitType(unit) === SPS && at > first ? withSize(unit, size) : unit,
  );
  const stream = await written('later.hevc', streamOf(changed));
  await ffmpeg('-f', 'hevc', '-framerate', '25', '-i', stream, '-c', 'copy', inBench('later.ts'));
  await expectQuarters(inBench('later.ts'));
});

/** Groups of pictures of ten frames, in which frames that follow a key frame in the file precede it, and refer to the group before it. */
const OPEN_GROUPS = hevcWith('open-gop=1:keyint=10:min-keyint=10:bframes=3:repeat-headers=1');
const ALL_FRAMES = 40;
/** The place of the second key frame in the file. It is the eleventh frame. */
const SECOND_KEY_FRAME = 9;

test.each<[string, number, string, Partial<Outcome>]>([
  ['with an open group', SECOND_KEY_FRAME, 'ts', { frames: ALL_FRAMES - 10 }],
  ['after the key frame of an open group', SECOND_KEY_FRAME + 1, 'ts', { frames: ALL_FRAMES - 9 }],
  // Some of the frames before the first key frame are missing.
  ['within a group', 3, 'ts', { frames: ALL_FRAMES - 1, issues: ['frame_rate_changed'] }],
  ['within a group', 3, 'mkv', { frames: ALL_FRAMES - 1, issues: ['frame_rate_changed'] }],
])('HEVC that begins %s has no grey frames', async (_, dropped, kind, outcome) => {
  const clip = await makeClip(inBench(`open.${kind}`), {
    video: quartered(ALL_FRAMES / 25, SIZE),
    options: [...OPEN_GROUPS, '-pix_fmt', 'yuv420p'],
  });
  const drop = ['-bsf:v', `noise=drop=lt(n\\,${dropped})`];
  await ffmpeg('-i', clip, '-c', 'copy', '-copyts', ...drop, inBench(`begun.${kind}`));
  await expectQuartersIn(inBench(`begun.${kind}`), [0, 5, 15], { issues: [], ...outcome });
});

test('HEVC whose references are missing is transcoded', async () => {
  const file = await mp4Of('hevc');
  // Key frames show the quarters; the others copy what is missing.
  const cut = withUnits(file, (unit, sample) => (sample % KEY_FRAMES === 1 ? [] : [unit]));
  await expectQuarters(await written('missing.mp4', cut));
});

test('two spatial layers of AV1 are one video: the upper layer', async () => {
  const upper = await mp4Of('av1', '-g', '1');
  const lower = samplesOf(await mp4Of('av1', '-g', '1', '-vf', 'negate'));
  const layers = withSamples(withAv1Headers(upper, withTwoLayers), (sample, number) => {
    const lowerSample = withSequenceHeaders(lower[number] ?? Buffer.of(), withTwoLayers);
    return bytesOf([
      ...obusOf(lowerSample).map((obu) => inLayer(obu, 0)),
      ...obusOf(sample).map((obu) => inLayer(obu, 1)),
    ]);
  });
  await expectQuarters(await written('layers.mp4', layers));
});

/** Transcodes a file of 320×180. Resolves with its frames in grey, those of the rendition and those that ffmpeg decodes. */
async function framesOf(path: string): Promise<{ made: Buffer[]; decoded: Buffer[] }> {
  const { videoId, manifest } = await transcodeByTheRules(bench, path);
  const made = await renditionFile(bench, videoId, manifest.renditions[0]);
  return {
    made: await greyFrames(made, SIZE.width, SIZE.height),
    decoded: await greyFrames(path, SIZE.width, SIZE.height),
  };
}

test('frames of AV1 that are decoded before they are shown are shown once', async () => {
  const clip = await makeClip(inBench('hidden.mkv'), {
    video: `testsrc2=s=320x180:r=25:d=1`,
    options: ['-c:v', 'libaom-av1', '-cpu-used', '8', '-lag-in-frames', '19', '-pix_fmt', 'yuv420p'],
  });
  await ffmpeg('-i', clip, '-c', 'copy', '-f', 'obu', inBench('hidden.obu'));
  // A frame header without a frame says which earlier frame is shown.
  expect(obusOf(await readFile(inBench('hidden.obu'))).map(({ type }) => type)).toContain(FRAME_HEADER);
  const { made, decoded } = await framesOf(clip);
  expect(made).toHaveLength(25);
  expect(made.map((frame) => mostLike(frame, decoded))).toEqual([...decoded.keys()]);
});

/** The place of the frame that is most like a frame. */
function mostLike(frame: Buffer, others: readonly Buffer[]): number {
  const likenesses = others.map((other) => likeness(frame, other));
  return likenesses.indexOf(Math.max(...likenesses));
}

/** The correlation of the pixels of two frames: 1 if they are equal apart from brightness and contrast, near 0 if they have nothing in common. */
function likeness(one: Buffer, other: Buffer): number {
  const [changes, otherChanges] = [changesOf(one), changesOf(other)];
  return productOf(changes, otherChanges) / Math.sqrt(squareOf(changes) * squareOf(otherChanges));
}

/** The difference of each pixel from the average of its frame. */
function changesOf(frame: Buffer): number[] {
  const average = frame.reduce((sum, value) => sum + value, 0) / frame.length;
  return Array.from(frame, (value) => value - average);
}

const productOf = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
const squareOf = (values: readonly number[]) => productOf(values, values);

test('film grain of AV1 is that which ffmpeg decodes', async () => {
  const clip = await makeClip(inBench('grain.mp4'), {
    video: 'color=gray:s=320x180:r=25:d=0.4',
    options: ['-c:v', 'libaom-av1', '-cpu-used', '8', '-aom-params', 'film-grain-test=12'],
  });
  const { made, decoded } = await framesOf(clip);
  expect(made).toHaveLength(decoded.length);
  // The picture is flat without the grain, which each frame has in other places.
  for (const [at, frame] of made.entries()) {
    expect(likeness(frame, decoded[at] ?? Buffer.of())).toBeGreaterThan(0.5);
    expect(likeness(frame, decoded[(at + 1) % decoded.length] ?? Buffer.of())).toBeLessThan(0.2);
  }
});

test('a sequence of images in AVIF is a video', async () => {
  await expectQuarters(await clipOf('av1', 'avif', '-pix_fmt', 'yuv420p'));
});
