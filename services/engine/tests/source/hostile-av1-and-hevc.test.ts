/** Damaged and hostile AV1 and HEVC: each file has a named outcome, in bounded time and memory. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mutated } from '@framelane/test-kit/mutations';
import { Random, testSeed } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  bytesOf,
  METADATA,
  obusOf,
  RESERVED as RESERVED_OBU,
  SEQUENCE_HEADER,
  withMaxSize,
} from '../support/av1.ts';
import {
  asLaterSlice,
  EOS,
  inNextLayer,
  isSlice,
  RESERVED,
  SPS,
  unitOf,
  unitType,
  VPS,
  withLevel,
} from '../support/hevc.ts';
import { hlsViolations } from '../support/hls-rules.ts';
import { box } from '../support/mp4-boxes.ts';
import {
  CODECS,
  type Codec,
  FRAMES,
  HEVC_CLIP,
  hevcWith,
  KEY_FRAMES,
  quarterMp4,
  withAv1Size,
  withConfiguration,
  withEntryBoxes,
  withHevcSize,
  withHevcUnits,
  withSequenceHeaders,
  withUnits,
} from '../support/quarter-clips.ts';
import { nameOf, QUARTERS, quarters } from '../support/quarters.ts';
import { withSamples } from '../support/samples.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const mp4Of = (codec: Codec, ...options: string[]) => quarterMp4(bench.directory, codec, ...options);

async function written(name: string, content: Buffer): Promise<string> {
  const path = join(bench.directory, name);
  await writeFile(path, content);
  return path;
}

async function expectRefused(path: string, code: string, message: string): Promise<void> {
  expect(await bench.refuse(path)).toMatchObject({
    code,
    retryable: false,
    message: expect.stringContaining(message),
  });
  expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
}

/** Expects that a file becomes a video with the frames and colours of the clip. */
async function expectQuarters(path: string): Promise<void> {
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, path);
  expect(outcome).toMatchObject({ renditions: ['360p 320x180'], frames: FRAMES, issues: [] });
  expect((await quarters(bench, videoId, manifest)).map(nameOf)).toEqual(QUARTERS);
}

const withoutArrays = (record: Buffer) => Buffer.concat([record.subarray(0, 22), Buffer.from([0])]);

const withSequenceHeaderInSamplesOnly = (file: Buffer) =>
  withConfiguration(file, 'av1', (record) => record.subarray(0, 4));

const NO_FRAME = 'no frame that can be decoded';
const NO_PARAMETER_SETS = 'parameter sets of a track are missing';
const MOSTLY_DAMAGED = 'Most frames of the file cannot be decoded';
/** Versions of ffmpeg give up in different places. */
const UNDECODABLE = 'be decoded';
const TOO_LARGE = '8192 pixels per side';

/** The change of a clip, and its outcome. */
type BadFile = [name: string, change: (file: Buffer) => Buffer, code: string, message: string];

const BAD_HEVC: BadFile[] = [
  [
    'no hvcC',
    (file) => withEntryBoxes(file, 'hevc', () => Buffer.of()),
    'malformed_media',
    NO_PARAMETER_SETS,
  ],
  [
    'an empty hvcC',
    (file) => withConfiguration(file, 'hevc', () => Buffer.of()),
    'malformed_media',
    NO_PARAMETER_SETS,
  ],
  [
    'hvcC without parameter sets',
    (file) => withConfiguration(file, 'hevc', withoutArrays),
    'malformed_media',
    NO_FRAME,
  ],
  [
    'hvcC of zeros',
    (file) => withConfiguration(file, 'hevc', ({ length }) => Buffer.alloc(length)),
    'malformed_media',
    NO_FRAME,
  ],
  [
    'hvcC of ones',
    (file) => withConfiguration(file, 'hevc', ({ length }) => Buffer.alloc(length, 0xff)),
    'malformed_media',
    UNDECODABLE,
  ],
  [
    'hvcC that declares more parameter sets than it has',
    (file) =>
      withConfiguration(file, 'hevc', (record) =>
        Buffer.concat([record.subarray(0, 24), Buffer.from([255, 255]), record.subarray(26)]),
      ),
    'malformed_media',
    UNDECODABLE,
  ],
  [
    'no video parameter set',
    (file) => withHevcUnits(file, (unit) => (unitType(unit) === VPS ? [] : [unit])),
    'malformed_media',
    NO_FRAME,
  ],
  ['parameter sets for 65528×65528', withHevcSize(65_528), 'dimensions_exceeded', TOO_LARGE],
  ['parameter sets for 16384×16384', withHevcSize(16_384), 'dimensions_exceeded', TOO_LARGE],
  ['parameter sets for 0×0', withHevcSize(0), 'malformed_media', 'without a size'],
  [
    'pictures without their first slice',
    (file) => withUnits(file, (unit) => [isSlice(unit) ? asLaterSlice(unit) : unit]),
    'malformed_media',
    UNDECODABLE,
  ],
];

const BAD_AV1: BadFile[] = [
  ['a sequence header for 65535×65535', withAv1Size(65_535), 'dimensions_exceeded', TOO_LARGE],
  ['a sequence header for 16384×16384', withAv1Size(16_384), 'dimensions_exceeded', TOO_LARGE],
  [
    'no sequence header',
    (file) =>
      withSamples(withSequenceHeaderInSamplesOnly(file), (sample) =>
        bytesOf(obusOf(sample).filter(({ type }) => type !== SEQUENCE_HEADER)),
      ),
    'malformed_media',
    NO_FRAME,
  ],
  [
    'OBUs that declare 2^56 bytes',
    (file) =>
      withSamples(file, (sample) =>
        Buffer.concat([Buffer.from([0x12, 255, 255, 255, 255, 255, 255, 255, 127]), sample]),
      ),
    'malformed_media',
    MOSTLY_DAMAGED,
  ],
];

test.each(BAD_HEVC)('HEVC with %s is refused', async (_, change, code, message) => {
  await expectRefused(await written('bad.mp4', change(await mp4Of('hevc'))), code, message);
});

test.each(BAD_AV1)('AV1 with %s is refused', async (_, change, code, message) => {
  await expectRefused(await written('bad.mp4', change(await mp4Of('av1'))), code, message);
});

const MANY = 20_000;

/** A copy of an MP4 with thousands of OBUs of a type in each sample. */
function flooded(file: Buffer, type: number): Buffer {
  const more = Array.from({ length: MANY }, () => ({ type, payload: Buffer.from([4, 0xb5, 1, 0x80]) }));
  return withSamples(file, (sample) => {
    const [first, ...others] = obusOf(sample);
    return bytesOf([...(first ? [first] : []), ...more, ...others]);
  });
}

/** The change of a clip that is decoded completely nevertheless. */
type GoodFile = [name: string, change: (file: Buffer) => Buffer];

const GOOD_HEVC: GoodFile[] = [
  [
    'thousands of reserved units in each sample',
    (file) => withUnits(file, (unit) => [...Array.from({ length: MANY }, () => unitOf(RESERVED)), unit]),
  ],
  [
    'thousands of parameter sets',
    (file) =>
      withHevcUnits(file, (unit) => Array.from({ length: unitType(unit) === VPS ? 1 : 5000 }, () => unit)),
  ],
  [
    'an absurd level',
    (file) => withHevcUnits(file, (unit) => [unitType(unit) === SPS ? withLevel(unit, 255) : unit]),
  ],
  [
    'an end of the sequence before a key frame',
    (file) =>
      withUnits(file, (unit, sample) =>
        sample === KEY_FRAMES && isSlice(unit) ? [unitOf(EOS), unit] : [unit],
      ),
  ],
  [
    'a second layer, as of alpha and stereo',
    (file) => withUnits(file, (unit) => (isSlice(unit) ? [unit, inNextLayer(unit)] : [unit])),
  ],
];

const GOOD_AV1: GoodFile[] = [
  ['no av1C', (file) => withEntryBoxes(file, 'av1', () => Buffer.of())],
  ['av1C without a sequence header', withSequenceHeaderInSamplesOnly],
  ['av1C of zeros', (file) => withConfiguration(file, 'av1', ({ length }) => Buffer.alloc(length))],
  ['av1C of ones', (file) => withConfiguration(file, 'av1', ({ length }) => Buffer.alloc(length, 0xff))],
  ['sizes of eight bytes', (file) => withSamples(file, (sample) => bytesOf(obusOf(sample), 8))],
  ['thousands of reserved OBUs in each sample', (file) => flooded(file, RESERVED_OBU)],
  ['thousands of metadata OBUs in each sample', (file) => flooded(file, METADATA)],
];

test.each(GOOD_HEVC)('HEVC with %s is decoded', async (_, change) => {
  await expectQuarters(await written('good.mp4', change(await mp4Of('hevc'))));
});

test.each(GOOD_AV1)('AV1 with %s is decoded', async (_, change) => {
  await expectQuarters(await written('good.mp4', change(await mp4Of('av1'))));
});

test('HEVC with parameter sets in the samples alone (hev1) is decoded', async () => {
  const file = withConfiguration(
    await mp4Of('hevc', ...hevcWith(`${HEVC_CLIP}:repeat-headers=1`)),
    'hevc',
    withoutArrays,
  );
  file.write('hev1', file.indexOf('hvc1', file.indexOf('stsd')), 'latin1');
  await expectQuarters(await written('bare.mp4', file));
});

test.each([
  ['65535×65535', 65_535],
  ['8192×4096', 8192],
])('later sequence headers of AV1 for %s change nothing but their frames', async (_, width) => {
  const size = { width, height: Math.min(width, 4096) };
  const changed = withSamples(await mp4Of('av1'), (sample, number) =>
    number < KEY_FRAMES ? sample : withSequenceHeaders(sample, (header) => withMaxSize(header, size)),
  );
  await expectQuarters(await written('later.mp4', changed));
});

test('the size of the frames is that of the parameter sets, even if the frames are of another video', async () => {
  // ffmpeg reports nothing, so nobody knows that the pictures are wrong.
  const { outcome } = await transcodeByTheRules(
    bench,
    await written('foreign.mp4', withHevcSize(1024)(await mp4Of('hevc'))),
  );
  expect(outcome).toMatchObject({
    renditions: ['360p 364x360', '480p 486x480', '720p 728x720'],
    frames: FRAMES,
    issues: [],
  });
});

test.each([
  ['avif', 'avif'],
  ['heic', 'heic'],
])('an image in %s is not a video', async (_, brand) => {
  const image = Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0mif1`, 'latin1')),
    box('meta', Buffer.alloc(4)),
    box('mdat', Buffer.alloc(64)),
  ]);
  await expectRefused(await written(`image.${brand}`, image), 'not_a_video', 'an image');
});

const DAMAGED_FILES = 6;

test.each(CODECS)(
  'damaged pictures of %s end with a correct stream or a documented failure',
  async (codec) => {
    const clip = await mp4Of(codec);
    for (let seed = testSeed(1); seed < testSeed(1) + DAMAGED_FILES; seed += 1) {
      const random = new Random(seed);
      const file = withSamples(clip, (sample, number) =>
        number % 3 === 1 ? mutated(sample, random) : sample,
      );
      const videoId = await bench.submit(await written('damaged.mp4', file));
      const { type, data } = await bench.result(videoId);
      if (type === 'task.failed') expect({ seed, ...data }).toMatchObject({ retryable: false });
      else expect(await hlsViolations(bench, videoId, await bench.manifest(videoId))).toEqual([]);
    }
  },
);
