import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { ffmpeg, makeClip } from '../support/media.ts';
import { WorkerBench } from './support/worker-bench.ts';

jest.setTimeout(60_000);

// Without the sandbox, so that what refuses a file are the options ffmpeg is given.
let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start({ sandbox: 'none' });
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

async function expectRefused(path: string, code: string): Promise<void> {
  expect(await bench.refuse(path)).toMatchObject({ code, retryable: false });
  expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
}

async function written(name: string, content: string | Buffer): Promise<string> {
  await writeFile(inBench(name), content);
  return inBench(name);
}

/** A file that cannot be opened without the opener hanging, which would end in another failure than a refusal. */
async function neighbour(): Promise<string> {
  const path = inBench(`neighbour-${randomBytes(4).toString('hex')}.ts`);
  await promisify(execFile)('mkfifo', [path]);
  return path;
}

test('random bytes are not a video', async () => {
  await expectRefused(await written('random.mp4', randomBytes(100_000)), 'not_a_video');
});

test('a text is not a video', async () => {
  await expectRefused(
    await written('text.mp4', 'Dear diary, today I filmed nothing.\n'.repeat(100)),
    'not_a_video',
  );
});

test('a picture is not a video', async () => {
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=320x240', '-frames:v', '1', inBench('picture.png'));
  await expectRefused(inBench('picture.png'), 'not_a_video');
});

test('an HLS playlist cannot make ffmpeg open the file of somebody else', async () => {
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:6', '#EXTINF:6,', await neighbour(), '#EXT-X-ENDLIST', ''];
  await expectRefused(await written('playlist.mp4', lines.join('\n')), 'not_a_video');
});

test('a concat list cannot either', async () => {
  const list = `ffconcat version 1.0\nfile '${await neighbour()}'\n`;
  await expectRefused(await written('list.mp4', list), 'not_a_video');
});

test('sound alone has no video track', async () => {
  const clip = await makeClip(inBench('sound.mp4'), { audio: 'sine=d=2', options: ['-c:a', 'aac'] });
  await expectRefused(clip, 'no_video_track');
});

test('sound with a cover picture has no video track', async () => {
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=320x240', '-frames:v', '1', inBench('cover.png'));
  const sound = await makeClip(inBench('song.m4a'), { audio: 'sine=d=2', options: ['-c:a', 'aac'] });
  const tracks = ['-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  await ffmpeg('-i', sound, '-i', inBench('cover.png'), ...tracks, inBench('covered.mp4'));
  await expectRefused(inBench('covered.mp4'), 'no_video_track');
});

test('two frames far apart are not an hour of video', async () => {
  const clip = await makeClip(inBench('bomb.mp4'), {
    video: 'testsrc2=s=64x64:r=1:d=2,setpts=N*3600/TB',
    options: ['-vsync', 'vfr', '-video_track_timescale', '1'],
  });
  await expectRefused(clip, 'malformed_media');
});

test('a single frame is too short', async () => {
  const clip = await makeClip(inBench('blink.mp4'), { video: 'testsrc2=s=64x64:r=25:d=0.04' });
  await expectRefused(clip, 'duration_too_short');
});

test('more than twelve hours are too long', async () => {
  const clip = await makeClip(inBench('endless.mp4'), { video: `color=s=16x16:r=1:d=${12 * 3600 + 60}` });
  await expectRefused(clip, 'duration_exceeded');
});

test('pictures of more than 8192 pixels a side are too large', async () => {
  const clip = await makeClip(inBench('wide.mp4'), { video: 'color=s=8400x16:r=25:d=1' });
  await expectRefused(clip, 'dimensions_exceeded');
});

test('pixels so oblong that the picture gets too wide are refused as well', async () => {
  const clip = await makeClip(inBench('oblong.mp4'), { video: 'color=s=320x240:r=25:d=1,setsar=100' });
  await expectRefused(clip, 'dimensions_exceeded');
});

test('a codec that is not on the list is not decoded', async () => {
  const clip = await makeClip(inBench('exotic.avi'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: ['-c:v', 'cinepak'],
  });
  await expectRefused(clip, 'unsupported_codec');
});

test('an encrypted track cannot be read', async () => {
  const key = '00112233445566778899aabbccddeeff';
  const clip = await makeClip(inBench('encrypted.mp4'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', key, '-encryption_kid', key],
  });
  await expectRefused(clip, 'unsupported_codec');
});

test('an MP4 without its index is incomplete', async () => {
  const clip = await makeClip(inBench('whole.mp4'), { video: 'testsrc2=s=64x64:r=25:d=2' });
  const whole = await readFile(clip);
  await expectRefused(await written('half.mp4', whole.subarray(0, whole.length / 2)), 'malformed_media');
});
