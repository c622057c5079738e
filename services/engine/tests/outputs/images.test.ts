import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ffprobe } from '../support/media.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

/** A video of 320×180 whose brightness is given by an expression of its time `T`. */
const brightening = (luma: string, seconds: number): Clip => ({
  video: `color=black:s=320x180:r=25:d=${seconds},format=yuv420p,geq=lum='clip(${luma},16,235)':cb=128:cr=128`,
});

async function transcode(name: string, clip: Clip) {
  const { videoId, manifest } = await bench.transcode(await makeClip(join(bench.directory, name), clip));
  const image = async (file: string) => {
    const { body } = await bench.objects.get(bench.imageKey(videoId, file));
    const path = join(bench.directory, `${videoId}-${file}`);
    await writeFile(path, await buffer(body));
    return path;
  };
  return { manifest, image };
}

/** The stream of an image, and the brightness of each cell of a grid: 0 is black, 255 is white. */
async function brightnessOf(path: string, columns = 1, rows = 1) {
  const { streams } = await ffprobe<{ streams: object[] }>('-show_streams', path);
  const scale = `scale=${columns}:${rows}:flags=area,format=gray`;
  await ffmpeg('-i', path, '-vf', scale, '-f', 'rawvideo', `${path}.gray`);
  return { stream: streams[0], brightness: [...(await readFile(`${path}.gray`))] };
}

test('each tile of the storyboard shows the frame at its time', async () => {
  const { manifest, image } = await transcode('bright.mp4', brightening('16+T*15', 13));
  const { bytes, ...storyboard } = manifest.storyboard ?? { bytes: 0 };
  expect(storyboard).toEqual({ width: 160, height: 90, columns: 10, tiles: 13, interval: 1 });
  const path = await image('storyboard.jpg');
  const { stream, brightness } = await brightnessOf(path, 10, 2);
  expect(stream).toMatchObject({ codec_name: 'mjpeg', width: 1600, height: 180 });
  expect(bytes).toBe((await readFile(path)).length);
  for (const [second, actual] of brightness.slice(0, 13).entries()) {
    // Limited range to full range.
    expect(Math.abs(actual - (second * 15 * 255) / 219)).toBeLessThan(6);
  }
});

test('the poster is the first bright frame after a tenth of the video', async () => {
  const { manifest, image } = await transcode('dark.mp4', brightening('16+lt(T,0.5)*200+gte(T,4)*100', 10));
  const path = await image('poster.jpg');
  const { stream, brightness } = await brightnessOf(path);
  expect(stream).toMatchObject({ codec_name: 'mjpeg', width: 320, height: 180 });
  expect(brightness[0]).toBeGreaterThan(90);
  // The opening is brighter.
  expect(brightness[0]).toBeLessThan(140);
  expect(manifest.poster).toEqual({ bytes: (await readFile(path)).length });
});

test('a black video has a black poster', async () => {
  const { manifest, image } = await transcode('black.mp4', brightening('16', 2));
  expect((await brightnessOf(await image('poster.jpg'))).brightness[0]).toBeLessThan(4);
  expect(manifest.storyboard).toMatchObject({ tiles: 2, columns: 2 });
});

test('a video of one frame has a poster and a storyboard', async () => {
  const { manifest } = await transcode('short.mp4', { video: 'testsrc2=s=320x240:r=5:d=0.2' });
  expect(manifest).toMatchObject({
    poster: {},
    storyboard: { tiles: 1, columns: 1, width: 160, height: 120 },
  });
});

test('images have no metadata of the frames that they show', async () => {
  const [frame, clip] = ['frame.jpg', 'photos.mov'].map((name) => join(bench.directory, name)) as [
    string,
    string,
  ];
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=320x240', '-frames:v', '1', frame);
  const photo = await readFile(frame);
  // EXIF with the camera "SECRET", and a comment.
  const camera = [0, 1, 0x01, 0x0f, 0, 2, 0, 0, 0, 7, 0, 0, 0, 26, 0, 0, 0, 0, ...Buffer.from('SECRET\0')];
  const exif = [...Buffer.from('Exif\0\0MM\0*'), 0, 0, 0, 8, ...camera];
  const added = [0xff, 0xe1, 0, exif.length + 2, ...exif, 0xff, 0xfe, 0, 8, ...Buffer.from('SECRET')];
  await writeFile(frame, Buffer.concat([photo.subarray(0, 2), Buffer.from(added), photo.subarray(2)]));
  await ffmpeg('-loop', '1', '-framerate', '5', '-i', frame, '-t', '2', '-c', 'copy', clip);
  expect(await readFile(clip, 'latin1')).toContain('SECRET');
  const { videoId } = await bench.transcode(clip);
  for (const name of ['poster.jpg', 'storyboard.jpg']) {
    const { body } = await bench.objects.get(bench.imageKey(videoId, name));
    const text = (await buffer(body)).toString('latin1');
    expect([name, text.includes('SECRET'), text.includes('Exif')]).toEqual([name, false, false]);
  }
});
