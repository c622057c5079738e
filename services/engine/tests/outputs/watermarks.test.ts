import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { framesOfPieces, framesOfWhole } from '../support/encoder-frames.ts';
import { firstFrame } from '../support/media.ts';
import { withDisplayMatrix } from '../support/mp4-boxes.ts';
import type { Colour } from '../support/quarters.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { TaskBench } from '../support/task-bench.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
let logo: ClaimedWatermark;
beforeAll(async () => {
  bench = await WorkerBench.start();
  // Opaque red beside green that is transparent.
  const pixels = "geq=r='255*lt(X,100)':g='255*gte(X,100)':b=0:a='255*lt(X,100)'";
  logo = {
    ...{ format: 'png', corner: 'top-left', opacity: 1, width: 0.25, margin: 0 },
    image: await imageOf('logo.png', `color=black:s=200x200,format=rgba,${pixels}`),
  };
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.watermark = logo;
});

/** An image of a source of lavfi, in base64. */
async function imageOf(name: string, source: string): Promise<string> {
  const path = join(bench.directory, name);
  await ffmpeg('-y', '-f', 'lavfi', '-i', source, '-frames:v', '1', path);
  return (await readFile(path)).toString('base64');
}

const grey = (size: string, seconds = 1) => `color=0x808080:s=${size}:r=25:d=${seconds}`;
const RED: Colour = [255, 0, 0];
const GREY: Colour = [128, 128, 128];

/** The colour of a pixel, whose place is a fraction of the width and of the height. */
function colourAt(frame: Buffer, { width, height }: { width: number; height: number }, x: number, y: number) {
  const at = 3 * (Math.floor(y * height) * width + Math.floor(x * width));
  return [...frame.subarray(at, at + 3)] as Colour;
}

function expectNear(actual: Colour, expected: Colour, tolerance = 16): void {
  const isNear = actual.every((value, at) => Math.abs(value - (expected[at] ?? 0)) <= tolerance);
  if (!isNear) throw new Error(`${actual} is not near ${expected}`);
}

type Place = [x: number, y: number, colour: Colour];

/** Transcodes a clip and checks pixels of the first frame of each rendition. */
async function expectPixels(path: string, places: readonly Place[]) {
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, path);
  for (const rendition of manifest.renditions.filter(({ width }) => width !== null)) {
    const frame = await firstFrame(await renditionFile(bench, videoId, rendition));
    const size = { width: rendition.width ?? 0, height: rendition.height ?? 0 };
    for (const [x, y, colour] of places) expectNear(colourAt(frame, size, x, y), colour);
  }
  return { videoId, manifest, outcome };
}

const clip = (name: string, made: Clip) => makeClip(join(bench.directory, name), made);

/** The image covers a quarter of the width: its left half is red. The video is 16:9. */
const MARKED: Place[] = [
  [0.02, 0.02, RED],
  [0.11, 0.4, RED],
  [0.14, 0.2, GREY],
  [0.24, 0.2, GREY],
  [0.05, 0.5, GREY],
  [0.9, 0.9, GREY],
];

describe('the watermark', () => {
  test('is in every rendition and image, and what could be copied is encoded', async () => {
    const path = await clip('copyable.mp4', {
      video: grey('1280x720', 2),
      options: ['-preset', 'veryfast', '-g', '50', '-profile:v', 'high'],
    });
    const { videoId, outcome } = await expectPixels(path, MARKED);
    expect(outcome.renditions).toEqual(['360p 640x360', '480p 854x480', '720p 1280x720']);
    expect(outcome.issues).toEqual(['copy_prevented']);
    expect(bench.copiesVideo.has(videoId)).toBe(false);
    for (const [name, size, scale] of [
      ['poster.jpg', { width: 1280, height: 720 }, 1],
      ['storyboard.jpg', { width: 320, height: 90 }, 0.5],
    ] as const) {
      const stored = join(bench.directory, name);
      await writeFile(stored, await buffer((await bench.objects.get(bench.imageKey(videoId, name))).body));
      const frame = await firstFrame(stored);
      for (const [x, y, colour] of MARKED) expectNear(colourAt(frame, size, x * scale, y), colour, 24);
    }
    bench.watermark = undefined;
    const copied = await transcodeByTheRules(bench, path);
    expect(copied.outcome.issues).toEqual([]);
    expect(bench.copiesVideo.has(copied.videoId)).toBe(true);
  });

  test.each([
    ['top-right', 0.02, 0.98, 0.02],
    ['bottom-left', 0.02, 0.02, 0.98],
    ['bottom-right', 0.02, 0.98, 0.98],
  ] as const)('is in the corner %s', async (corner, margin, x, y) => {
    bench.watermark = { ...logo, corner, margin, image: await imageOf('red.png', 'color=red:s=64x64') };
    const path = await clip('corner.mp4', { video: grey('320x180') });
    const inside = (of: number) => (of < 0.5 ? of + 0.05 : of - 0.05);
    await expectPixels(path, [
      [inside(x), inside(y), RED],
      [0.5, 0.5, GREY],
      [x < 0.5 ? 0.002 : 0.998, y < 0.5 ? 0.002 : 0.998, GREY],
    ]);
  });

  test.each([
    [0, GREY],
    [0.5, [192, 64, 64] as Colour],
  ])('of opacity %d', async (opacity, colour) => {
    bench.watermark = { ...logo, opacity };
    await expectPixels(await clip('opacity.mp4', { video: grey('320x180') }), [
      [0.06, 0.1, colour],
      [0.2, 0.1, GREY],
    ]);
  });

  test('is upright in a rotated video', async () => {
    const path = join(bench.directory, 'rotated.mp4');
    const plain = await clip('upright.mp4', { video: grey('320x180') });
    await writeFile(path, withDisplayMatrix(await readFile(plain), [0, 1, -1, 0]));
    const { outcome } = await expectPixels(path, [
      [0.06, 0.06, RED],
      [0.2, 0.06, GREY],
      [0.06, 0.2, GREY],
    ]);
    expect(outcome.renditions).toEqual(['360p 180x320']);
  });

  test('keeps its shape where the pixels of the file are not square', async () => {
    const path = await clip('anamorphic.mp4', { video: `${grey('160x180')},setsar=2` });
    const { outcome } = await expectPixels(path, MARKED);
    expect(outcome.renditions).toEqual(['360p 320x180']);
  });

  test('has its own colours in a video with high dynamic range, which is mapped', async () => {
    const tags = 'log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';
    const path = await clip('hdr.mp4', {
      video: `${grey('320x180')},format=yuv420p10le`,
      options: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', tags, '-pix_fmt', 'yuv420p10le'],
    });
    const { outcome } = await expectPixels(path, [[0.06, 0.1, RED]]);
    expect(outcome.issues).toContain('hdr');
  });

  test('is in each field of interlaced video, in an odd size at 29.97 frames a second', async () => {
    const path = await clip('odd.ts', {
      video: 'color=0x808080:s=321x181:r=60000/1001:d=1,format=yuv422p,interlace=scan=tff:lowpass=off',
      options: ['-c:v', 'mpeg2video', '-pix_fmt', 'yuv422p', '-flags', '+ildct+ilme', '-q:v', '2'],
    });
    const { outcome } = await expectPixels(path, MARKED);
    expect(outcome).toMatchObject({ renditions: ['360p 320x180'], rate: 59.94 });
  });

  test.each([
    ['higher than the video', 'color=red:s=16x2000', { width: 1 }, [0.01, 0.9, GREY]],
    ['a million times larger', 'color=red:s=4096x4096', { width: 1 }, [0.5, 0.9, RED]],
    ['one pixel', 'color=red:s=16x16,format=rgba,crop=1:1', { width: 0.5 }, [0.45, 0.8, RED]],
    [
      'a palette',
      'color=red:s=40x40:d=0.04,format=rgb24,split[a][b];[a]palettegen[p];[b][p]paletteuse',
      {},
      [0.2, 0.3, RED],
    ],
    ['grey', 'color=white:s=40x40,format=rgb24,format=gray', {}, [0.2, 0.3, [255, 255, 255]]],
    ['black or white', 'color=white:s=40x40,format=rgb24,format=monob', {}, [0.2, 0.3, [255, 255, 255]]],
    ['16 bits', 'color=red:s=40x40,format=rgba64be', {}, [0.2, 0.3, RED]],
  ] as const)('from an image that is %s', async (_, source, settings, place) => {
    bench.watermark = { ...logo, ...settings, image: await imageOf('other.png', source) };
    const size = source.includes('4096') ? '16x16' : '320x180';
    await expectPixels(await clip('other.mp4', { video: grey(size) }), [place as unknown as Place]);
  });

  test.each([
    ['a palette', 'split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse=alpha_threshold=1'],
    ['grey', 'format=ya8'],
    ['16 bits', 'format=rgba64be'],
  ])('with transparency and opacity keeps both, from an image with %s', async (_, conversion) => {
    const half = "format=rgba,geq=r=255:g=255:b=255:a='255*lt(X,20)'";
    const image = await imageOf('half.png', `color=white:s=40x40:d=0.04,${half},${conversion}`);
    bench.watermark = { ...logo, opacity: 0.5, image };
    await expectPixels(await clip('half.mp4', { video: grey('320x180') }), [
      [0.06, 0.2, [192, 192, 192]],
      [0.2, 0.2, GREY],
    ]);
  });

  test('has no colour of transparent pixels at its edges', async () => {
    // Lines of opaque red between lines of transparent green.
    const pixels = "geq=r='255*mod(X,2)':g='255*not(mod(X,2))':b=0:a='255*mod(X,2)'";
    const image = await imageOf('lines.png', `color=black:s=400x400,format=rgba,${pixels}`);
    bench.watermark = { ...logo, image };
    await expectPixels(await clip('lines.mp4', { video: grey('320x180') }), [[0.12, 0.2, [192, 64, 64]]]);
  });

  test('from a JPEG image has its colours', async () => {
    const image = await imageOf('photo.jpg', 'color=0x2060c0:s=64x64');
    bench.watermark = { ...logo, format: 'jpeg', image };
    await expectPixels(await clip('photo.mp4', { video: grey('320x180') }), [[0.1, 0.2, [32, 96, 192]]]);
  });

  test.each([
    ['is not an image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['names other files', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')],
    [
      'has no pixels',
      Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0\x1f\xf3\xffa', 'latin1'),
    ],
    [
      'is a bomb',
      Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x06\0\0\0\0\0\0\0', 'latin1'),
    ],
  ])('fails the video if its file %s', async (_, file) => {
    bench.watermark = { ...logo, image: file.toString('base64') };
    const failure = await bench.refuse(await clip('refused.mp4', { video: grey('320x180') }));
    expect(failure).toMatchObject({ code: 'watermark_unusable', retryable: false });
  });
});

describe('a long video with a watermark', () => {
  let tasks: TaskBench;
  beforeAll(async () => {
    tasks = await TaskBench.start();
    tasks.watermark = logo;
  });
  afterAll(() => tasks.stop());

  const long: Clip = {
    video: 'testsrc2=s=240x240:r=30000/1001:d=18.5,pad=480:480',
    audio: 'sine=d=18.5',
    options: ['-preset', 'veryfast', '-g', '60', '-bf', '3', '-c:a', 'aac', '-ac', '2'],
  };

  test('has no task that copies it, and its pieces have the frames of one run', async () => {
    const stored = await tasks.store(await makeClip(join(tasks.directory, 'long.mp4'), long));
    const plan = await tasks.taskPlan(stored, 6);
    expect(new Set(plan.tasks.map(({ kind }) => kind))).toEqual(new Set(['audio', 'piece', 'images']));
    const pieces = plan.tasks.filter((task): task is PieceTask => task.kind === 'piece');
    expect(pieces.length).toBeGreaterThan(1);
    await tasks.withSource(stored, async (directory) => {
      const whole = await framesOfWhole(directory, plan.encode);
      const joined = await tasks.withPieceInputs(stored, directory, pieces, (inputs) =>
        framesOfPieces(plan.encode, inputs),
      );
      for (const [name, frames] of whole) {
        expect(frames.length).toBeGreaterThan(500);
        expect(joined.flatMap((piece) => piece.get(name) ?? [])).toEqual(frames);
      }
    });
  });

  test('shows it in the segments of all pieces, and in its images', async () => {
    const path = await makeClip(join(tasks.directory, 'grey.mp4'), {
      video: grey('320x180', 18.5),
      options: ['-preset', 'veryfast', '-g', '50'],
    });
    const { video, plan, manifest } = await tasks.transcode(path, 6);
    const [rendition] = manifest.renditions;
    const frames = await renditionFile(tasks, video.videoId, rendition);
    const mark = `${frames}.rgb`;
    // The red half, of each 25th frame.
    const filters = "select='not(mod(n,25))',crop=16:32:8:8,scale=1:1:flags=area:in_color_matrix=bt709";
    await ffmpeg('-i', frames, '-vf', filters, '-vsync', '0', '-pix_fmt', 'rgb24', '-f', 'rawvideo', mark);
    const colours = await readFile(mark);
    expect(colours.length / 3).toBe(Math.ceil(plan.encode.frames / 25));
    for (let at = 0; at < colours.length; at += 3)
      expectNear([...colours.subarray(at, at + 3)] as Colour, RED);
    const images = (await tasks.stored(video.videoId)).filter((key) => key.endsWith('.jpg'));
    expect(images).toHaveLength(2);
    for (const key of images) {
      const image = join(tasks.directory, 'image.jpg');
      await writeFile(image, await buffer((await tasks.objects.get(key)).body));
      const [width, height] = key.endsWith('poster.jpg') ? [320, 180] : [1600, 180];
      expectNear(colourAt(await firstFrame(image), { width, height }, 8 / width, 8 / height), RED, 24);
    }
  });
});
