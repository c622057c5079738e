import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Size } from '../../src/source/media-source.ts';
import { ffprobe } from '../support/media.ts';
import { type DisplayMatrix, withDisplayMatrix } from '../support/mp4-boxes.ts';
import {
  type Colour,
  maxDifference,
  nameOf,
  QUARTER_COLOURS,
  quartered,
  quarters,
  quartersOfImage,
} from '../support/quarters.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const transcode = (path: string) => transcodeByTheRules(bench, path);

/** Images and renditions are compressed, and may differ by this. With the matrix of the rendition, images would differ by 18. */
const IMAGE_TOLERANCE = 4;

/** Viewers see the poster and the storyboard in the same colours as the frames of a rendition. */
async function expectInImages(videoId: string, colours: readonly Colour[]): Promise<void> {
  for (const name of ['poster.jpg', 'storyboard.jpg']) {
    const image = await quartersOfImage(bench, bench.imageKey(videoId, name));
    expect(maxDifference(image, colours)).toBeLessThanOrEqual(IMAGE_TOLERANCE);
  }
}

const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];

test.each<[string, DisplayMatrix, string, string[]]>([
  ['that is not rotated', [1, 0, 0, 1], '320x180', ['red', 'green', 'blue', 'grey']],
  ['rotated to the left', [0, -1, 1, 0], '180x320', ['green', 'grey', 'red', 'blue']],
  ['rotated by 180°', [-1, 0, 0, -1], '320x180', ['grey', 'blue', 'green', 'red']],
  ['rotated to the right', [0, 1, -1, 0], '180x320', ['blue', 'red', 'grey', 'green']],
  ['mirrored horizontally', [-1, 0, 0, 1], '320x180', ['green', 'red', 'grey', 'blue']],
  ['mirrored vertically', [1, 0, 0, -1], '320x180', ['blue', 'grey', 'red', 'green']],
  ['mirrored at its diagonal', [0, 1, 1, 0], '180x320', ['red', 'blue', 'green', 'grey']],
  ['mirrored at its other diagonal', [0, -1, -1, 0], '180x320', ['grey', 'green', 'blue', 'red']],
])('video %s is displayed as its display matrix says', async (_, matrix, size, colours) => {
  const plain = await makeClip(inBench('plain.mp4'), { video: quartered(1) });
  await writeFile(inBench('turned.mp4'), withDisplayMatrix(await readFile(plain), matrix));
  const { videoId, manifest, outcome } = await transcode(inBench('turned.mp4'));
  expect(outcome).toMatchObject({ renditions: [`360p ${size}`], frames: 25, issues: [] });
  // The quarters row by row.
  expect((await quarters(bench, videoId, manifest)).map(nameOf)).toEqual(colours);
});

test('4K stays within the memory limit of ffmpeg on a machine with many cores', async () => {
  const clip = await makeClip(inBench('4k.mp4'), {
    video: 'testsrc2=s=3840x2160:r=30:d=0.5',
    options: [...HEVC, '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'],
  });
  const large = await WorkerBench.start({ threads: 64 });
  try {
    expect((await large.transcode(clip)).manifest.renditions.length).toBeGreaterThan(3);
  } finally {
    await large.stop();
  }
});

/** The quarters in high dynamic range, with white at 203 cd/m² (ITU-R BT.2408). */
function highRange(transfer: string): Clip {
  const steps = [
    'format=gbrpf32le,setparams=color_primaries=bt709:color_trc=bt709:colorspace=gbr',
    'zscale=transfer=linear:npl=203,zscale=primaries=2020',
    `zscale=transfer=${transfer}:npl=203:matrix=2020_ncl:range=tv,format=yuv420p10le`,
  ];
  const tags = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc`;
  return {
    video: `${quartered(1)},${steps.join(',')}`,
    options: [
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', `log-level=none:${tags}`],
      ...['-pix_fmt', 'yuv420p10le', '-color_primaries', 'bt2020', '-color_trc', transfer],
      ...['-colorspace', 'bt2020nc'],
    ],
  };
}

test.each(['smpte2084', 'arib-std-b67'])(
  'high dynamic range with %s has the right colours in standard range',
  async (transfer) => {
    const clip = await makeClip(inBench(`${transfer}.mp4`), highRange(transfer));
    const { videoId, manifest, outcome } = await transcode(clip);
    expect(outcome).toMatchObject({ frames: 25, issues: ['hdr', 'high_bit_depth'] });
    const colours = await quarters(bench, videoId, manifest);
    expect(colours.map(nameOf)).toEqual(['red', 'green', 'blue', 'grey']);
    await expectInImages(videoId, colours);
    for (const [red, green, blue] of colours) {
      // Tone mapping keeps headroom above diffuse white. Without it, the quarters would have nearly no saturation.
      expect(Math.max(red, green, blue)).toBeGreaterThan(130);
      expect(Math.max(red, green, blue)).toBeLessThan(190);
    }
    for (const [red, green, blue] of colours.slice(0, 3)) expect(Math.min(red, green, blue)).toBeLessThan(30);
  },
);

/** Colours inside the gamuts of all tested primaries. On some processors, zimg clips others before it converts them. */
const PALE_COLOURS: Colour[] = [
  [180, 70, 70],
  [70, 180, 70],
  [70, 70, 180],
  [180, 180, 180],
];

/** The pale quarters in standard range, with other primaries and another matrix than BT.709's. */
function inPrimaries(primaries: string, matrix: string, size: Size): Clip {
  const tags = ['-color_primaries', primaries, '-color_trc', 'bt709', '-colorspace', matrix];
  const steps = [
    'format=gbrp,setparams=color_primaries=bt709:color_trc=bt709:colorspace=gbr:range=pc',
    `zscale=primaries=${primaries}:transfer=bt709:matrix=${matrix}:range=tv,format=yuv420p`,
  ];
  return {
    video: `${quartered(0.4, size, PALE_COLOURS)},${steps.join(',')}`,
    options: ['-preset', 'veryfast', '-crf', '10', ...tags],
  };
}

test.each([
  ['BT.2020', 'bt2020', 'bt2020nc'],
  ['Display P3', 'smpte432', 'bt709'],
  ['BT.601', 'smpte170m', 'smpte170m'],
])('colours of %s in standard range are converted', async (_, primaries, matrix) => {
  // Not the size of a rung, or the last case would be copied.
  const size = { width: 852, height: 484 };
  const clip = await makeClip(inBench(`${primaries}.mp4`), inPrimaries(primaries, matrix, size));
  const { videoId, manifest } = await transcode(clip);
  expect(bench.copiesVideo.has(videoId)).toBe(false);
  for (const { name } of manifest.renditions) {
    const colours = await quarters(bench, videoId, manifest, name);
    expect(maxDifference(colours, PALE_COLOURS)).toBeLessThan(5);
    await expectInImages(videoId, colours);
  }
});

const tagged = (colour: string) => ['-colorspace', colour, '-color_primaries', colour, '-color_trc', colour];

/** Tags of the H.264 stream. The container has those of the encoder. */
const STREAM_UNTAGGED = ['-x264-params', 'colorprim=undef:transfer=undef:colormatrix=undef'];
const STREAM_BT_601 = ['-x264-params', 'colorprim=smpte170m:transfer=smpte170m:colormatrix=smpte170m'];
/** Pixels of BT.601 in frames that are tagged as BT.709. With the option -colorspace, ffmpeg 7 would convert the pixels. */
const FRAMES_TAGGED_BT_709 = [
  '-vf',
  'scale=out_color_matrix=smpte170m,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709',
];
const STREAM_PIXELS_4_3 = ['-bsf:v', 'h264_metadata=sample_aspect_ratio=4/3'];

test.each([
  ['tagged', 'tagged.mp4', tagged('smpte170m')],
  ['with a tagged matrix alone', 'matrix.mp4', ['-colorspace', 'bt470bg']],
  ['untagged', 'untagged.mp4', []],
  ['tagged in MP4 only', 'mp4-only.mp4', [...tagged('smpte170m'), ...STREAM_UNTAGGED]],
  ['tagged in Matroska only', 'matroska-only.mkv', [...tagged('smpte170m'), ...STREAM_UNTAGGED, '-bf', '0']],
  ['tagged as BT.709 in MP4 only', 'contradiction.mp4', [...FRAMES_TAGGED_BT_709, ...STREAM_BT_601]],
  ['with square pixels in MP4 only', 'square.mp4', STREAM_PIXELS_4_3],
])(
  'renditions below a copied rendition of standard definition that is %s have its colours',
  async (_, name, options) => {
    const clip = await makeClip(inBench(`sd-${name}`), {
      video: quartered(0.4, { width: 852, height: 480 }),
      options: ['-preset', 'veryfast', ...options],
    });
    const { videoId, manifest } = await transcode(clip);
    expect(bench.copiesVideo.has(videoId)).toBe(true);
    const tags: unknown[] = [];
    for (const rendition of manifest.renditions) {
      const file = await renditionFile(bench, videoId, rendition);
      const entries = 'stream=color_range,color_space,color_primaries,color_transfer,sample_aspect_ratio';
      const { streams } = await ffprobe<{ streams: object[] }>('-show_entries', entries, file);
      tags.push(streams[0]);
      expect(
        maxDifference(await quarters(bench, videoId, manifest, rendition.name), QUARTER_COLOURS),
      ).toBeLessThan(8);
    }
    await expectInImages(videoId, await quarters(bench, videoId, manifest));
    expect(tags).toHaveLength(2);
    expect(tags[0]).toEqual(tags[1]);
    expect(tags[0]).toMatchObject({ color_primaries: expect.not.stringContaining('unknown') });
  },
);
