import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { box, withBox } from '../support/mp4-boxes.ts';
import { WatchedPort } from '../support/watched-port.ts';
import { WorkerBench } from '../support/worker-bench.ts';

// Without the sandbox, so that only ffmpeg's options protect the engine.
let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start({ sandbox: 'none' });
  // If the engine is root, ffmpeg runs as another user and needs access.
  await chmod(bench.directory, 0o755);
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

/** The number of frames that a file of some kilobytes declares: 54 million. */
const DECLARED = { chunks: 4000, framesPerChunk: 13_500 };

/** The path to the boxes of an MP4's first track. */
const TRACK = ['moov', 'trak', 'mdia'];

/** Changes the declared width and height of all frames of a Motion JPEG. */
function withJpegSize(file: Buffer, pixels: number): Buffer {
  // The marker SOF0 and the length of its segment.
  const frame = Buffer.from([0xff, 0xc0, 0x00, 0x11]);
  for (let at = file.indexOf(frame); at !== -1; at = file.indexOf(frame, at + 1)) {
    file.writeUInt16BE(pixels, at + 5);
    file.writeUInt16BE(pixels, at + 7);
  }
  return file;
}

/** A named pipe beside the file. If ffmpeg opens it, ffmpeg hangs and the try ends with a timeout instead of a refusal. */
async function namedPipe(): Promise<string> {
  const path = inBench(`pipe-${randomBytes(4).toString('hex')}.ts`);
  await promisify(execFile)('mkfifo', ['--mode=666', path]);
  return path;
}

test('random bytes are not a video', async () => {
  await expectRefused(await written('random.mp4', randomBytes(100_000)), 'not_a_video');
});

test('a text file is not a video', async () => {
  await expectRefused(
    await written('text.mp4', 'Dear diary, today I filmed nothing.\n'.repeat(100)),
    'not_a_video',
  );
});

test('an image is not a video', async () => {
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=320x240', '-frames:v', '1', inBench('image.png'));
  await expectRefused(inBench('image.png'), 'not_a_video');
});

/** Text formats of ffmpeg that refer to other files or addresses. */
const REFERENCES: [string, (other: string) => string][] = [
  ['an HLS playlist', (other) => `#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n${other}\n#EXT-X-ENDLIST\n`],
  [
    'an HLS playlist with a key',
    (other) =>
      `#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI="${other}"\n#EXTINF:6,\ndata:,x\n#EXT-X-ENDLIST\n`,
  ],
  [
    'a master playlist',
    (other) => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=64x64\n${other}\n`,
  ],
  ['a concat list', (other) => `ffconcat version 1.0\nfile '${other}'\n`],
  [
    'a DASH manifest',
    (other) =>
      '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT6S">' +
      `<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>${other}</BaseURL>` +
      '<SegmentBase/></Representation></AdaptationSet></Period></MPD>',
  ],
  [
    'a session description',
    () => 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n',
  ],
  ['a list of images', (other) => `${other}\n`],
];

test.each(REFERENCES)('%s opens no other file and no connection', async (name, text) => {
  const port = await WatchedPort.open();
  const file = name.replaceAll(' ', '-');
  for (const other of [
    await namedPipe(),
    `http://127.0.0.1:${port.number}/x.ts`,
    `tcp://127.0.0.1:${port.number}`,
  ]) {
    await expectRefused(await written(`${file}.mp4`, text(other)), 'not_a_video');
  }
  await port.close();
  expect(port.connections).toBe(0);
});

/** A Macintosh alias record with the absolute path of a file (type 2), as ffmpeg's `mov_read_dref` reads it. */
function aliasTo(path: string): Buffer {
  const even = path.length % 2 === 0 ? path : `${path}\0`;
  const entry = Buffer.from([0, 2, even.length >> 8, even.length & 0xff]);
  return Buffer.concat([Buffer.alloc(150), entry, Buffer.from(even), Buffer.from([0xff, 0xff, 0, 0])]);
}

test.each<[string, (other: string) => Buffer, (videoId: string) => Promise<object>, object]>([
  // ffmpeg ignores the URL, and reads the media data of the file itself.
  ['url ', (other) => Buffer.from(`${other}\0`), (videoId) => bench.manifest(videoId), { duration: 1 }],
  [
    'alis',
    aliasTo,
    (videoId) => bench.failure(videoId),
    { code: 'malformed_media', message: expect.stringMatching('no frames') },
  ],
])(
  'a QuickTime file with external media data (%s) opens nothing',
  async (kind, reference, outcomeOf, outcome) => {
    const port = await WatchedPort.open();
    const clip = await makeClip(inBench('own.mov'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    for (const other of [await namedPipe(), `http://127.0.0.1:${port.number}/x`]) {
      const entry = box(kind, Buffer.concat([Buffer.alloc(4), reference(other)]));
      const external = withBox(await readFile(clip), [...TRACK, 'minf', 'dinf', 'dref'], () =>
        Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), entry]),
      );
      // If ffmpeg opened the named pipe, it would wait for the timeout.
      const videoId = await bench.submit(await written('external.mov', external));
      expect(await outcomeOf(videoId)).toMatchObject(outcome);
    }
    await port.close();
    expect(port.connections).toBe(0);
  },
);

test('an audio file has no video track', async () => {
  const clip = await makeClip(inBench('audio.mp4'), { audio: 'sine=d=2', options: ['-c:a', 'aac'] });
  await expectRefused(clip, 'no_video_track');
});

test('an audio file with a cover image has no video track', async () => {
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=320x240', '-frames:v', '1', inBench('cover.png'));
  const audio = await makeClip(inBench('song.m4a'), { audio: 'sine=d=2', options: ['-c:a', 'aac'] });
  const tracks = ['-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  await ffmpeg('-i', audio, '-i', inBench('cover.png'), ...tracks, inBench('covered.mp4'));
  await expectRefused(inBench('covered.mp4'), 'no_video_track');
});

/** An MP4 whose sample tables declare millions of key frames of one byte and one second, in chunks that share their bytes. */
async function withDeclaredFrames(): Promise<Buffer> {
  const clip = await makeClip(inBench('key-frames.mov'), { video: 'testsrc2=s=64x64:r=25:d=0.4' });
  const numbers = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
    return bytes;
  };
  const frames = DECLARED.chunks * DECLARED.framesPerChunk;
  const tables: Record<string, Buffer> = {
    stts: numbers(0, 1, frames, 12_800),
    stsz: numbers(0, 1, frames),
    stsc: numbers(0, 1, 1, DECLARED.framesPerChunk, 1),
    stco: numbers(0, DECLARED.chunks, ...Array.from({ length: DECLARED.chunks }, () => 40)),
  };
  let file: Buffer = await readFile(clip);
  for (const [name, table] of Object.entries(tables)) {
    file = withBox(file, [...TRACK, 'minf', 'stbl', name], () => table);
  }
  // Without the box `stss` all frames are key frames.
  for (const name of ['stss', 'edts']) file.write('free', file.indexOf(name), 'latin1');
  return file;
}

test('millions of declared key frames take no memory', async () => {
  const file = await withDeclaredFrames();
  expect(file.length).toBeLessThan(32 * 1024);
  const before = process.memoryUsage().heapUsed;
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().heapUsed);
  }, 20);
  try {
    await expectRefused(await written('declared.mov', file), 'duration_exceeded');
  } finally {
    clearInterval(watch);
  }
  expect(highest - before).toBeLessThan(128 * 1024 ** 2);
});

test('a file whose index needs too much memory is refused without a retry', async () => {
  const small = await WorkerBench.start({
    sandbox: 'none',
    limits: { probeMemoryBytes: 512 * 1024 ** 2 },
  });
  const declared = await written('index.mov', await withDeclaredFrames());
  const { code, retryable } = await small.refuse(declared);
  await small.stop();
  expect({ code, retryable }).toEqual({ code: 'malformed_media', retryable: false });
});

test('a file that takes too long to read is refused without a retry', async () => {
  const impatient = await WorkerBench.start({ sandbox: 'none', limits: { scanSeconds: 0.001 } });
  // More packets than ffprobe lists with a description.
  const clip = await makeClip(inBench('slow.mp4'), { video: 'testsrc2=s=64x64:r=100:d=21' });
  const { code, retryable } = await impatient.refuse(clip);
  await impatient.stop();
  expect({ code, retryable }).toEqual({ code: 'transcode_timeout', retryable: false });
});

test('too many pixels per second are refused', async () => {
  const clip = await makeClip(inBench('pixels.mp4'), {
    video: 'color=s=8192x4880:r=60:d=0.2',
    options: ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency'],
  });
  expect(await bench.refuse(clip)).toMatchObject({
    code: 'dimensions_exceeded',
    message: expect.stringMatching(/8192×4880 at 60.0 frames per second .* at most 1.1 billion/),
    retryable: false,
  });
});

test.each(['mp4', 'mkv'])('hundreds of tracks in a %s are refused', async (kind) => {
  const track = ['-f', 'lavfi', '-i', 'testsrc2=s=16x16:r=25:d=0.2'];
  const maps = Array.from({ length: 300 }, () => ['-map', '0']).flat();
  await ffmpeg(...track, '-c:v', 'mpeg4', inBench('one.mp4'));
  await ffmpeg('-i', inBench('one.mp4'), ...maps, '-c', 'copy', inBench(`tracks.${kind}`));
  await expectRefused(inBench(`tracks.${kind}`), 'malformed_media');
});

test('a small file with huge declared frames is not decoded', async () => {
  const clip = await makeClip(inBench('small.avi'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: ['-c:v', 'mjpeg'],
  });
  await expectRefused(
    await written('huge.avi', withJpegSize(await readFile(clip), 65_500)),
    'dimensions_exceeded',
  );
});

test('a language tag of megabytes is refused', async () => {
  const clip = await makeClip(inBench('short.mkv'), { video: 'testsrc2=s=64x64:r=25:d=1' });
  const tags = await written('tags.txt', `;FFMETADATA1\n[STREAM]\nlanguage=${'x'.repeat(2_000_000)}\n`);
  await ffmpeg(
    '-i',
    clip,
    '-i',
    tags,
    '-map',
    '0',
    '-map_metadata:s:v',
    '1:s:0',
    '-c',
    'copy',
    inBench('long.mkv'),
  );
  await expectRefused(inBench('long.mkv'), 'malformed_media');
});

test('a single frame is refused as too short', async () => {
  const clip = await makeClip(inBench('blink.mp4'), { video: 'testsrc2=s=64x64:r=25:d=0.04' });
  await expectRefused(clip, 'duration_too_short');
});

test('more than twelve hours are refused as too long', async () => {
  const clip = await makeClip(inBench('endless.mp4'), { video: `color=s=16x16:r=1:d=${12 * 3600 + 60}` });
  await expectRefused(clip, 'duration_exceeded');
});

test('more than 240 frames per second are refused', async () => {
  const clip = await makeClip(inBench('fast.mp4'), { video: 'color=s=64x64:r=250:d=6' });
  expect(await bench.refuse(clip)).toMatchObject({
    code: 'malformed_media',
    message: 'The video has 250 frames per second; at most 240 are allowed.',
    retryable: false,
  });
});

test('two large frames more than nine hours apart have too many pixels', async () => {
  const clip = await makeClip(inBench('bomb.mp4'), {
    video: 'color=s=8192x4096:r=1:d=2,setpts=N*36000/TB',
    options: ['-vsync', 'vfr', '-video_track_timescale', '1'],
  });
  await expectRefused(clip, 'dimensions_exceeded');
});

test('frames of more than 8192 pixels per side are refused', async () => {
  const clip = await makeClip(inBench('wide.mp4'), { video: 'color=s=8400x16:r=25:d=1' });
  await expectRefused(clip, 'dimensions_exceeded');
});

test('frames whose display width is too large are refused', async () => {
  const clip = await makeClip(inBench('wide-pixels.mp4'), { video: 'color=s=320x240:r=25:d=1,setsar=100' });
  await expectRefused(clip, 'dimensions_exceeded');
});

test('a codec that is not accepted is not decoded', async () => {
  const clip = await makeClip(inBench('exotic.avi'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: ['-c:v', 'cinepak'],
  });
  expect(await bench.refuse(clip)).toMatchObject({
    code: 'unsupported_codec',
    message: 'Track 1 uses the codec cinepak, which is not supported.',
    retryable: false,
  });
});

test('a file whose only audio track cannot be decoded has no audio, and an issue names the track', async () => {
  const clip = await makeClip(inBench('tta.mkv'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    audio: 'sine=d=1',
    options: ['-c:a', 'tta', '-metadata:s:a:0', 'language=ger'],
  });
  const { manifest } = await bench.transcode(clip);
  expect(manifest).toMatchObject({
    renditions: [{ name: '360p' }],
    inputIssues: [{ code: 'track_left_out', message: 'Track 2 (audio, tta, de) was left out.' }],
  });
});

const KEY = '00112233445566778899aabbccddeeff';
const ENCRYPTED = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', KEY, '-encryption_kid', KEY];

test('encrypted video is refused', async () => {
  const clip = await makeClip(inBench('encrypted.mp4'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: ENCRYPTED,
  });
  expect(await bench.refuse(clip)).toMatchObject({
    code: 'unsupported_codec',
    message: 'Track 1 (video, h264) is encrypted. Upload the file without encryption.',
  });
});

test('encrypted audio beside clear video is left out', async () => {
  const clip = { video: 'testsrc2=s=64x64:r=25:d=1', audio: 'sine=d=1' };
  const [file, clear] = await Promise.all(
    [ENCRYPTED, []].map(async (encryption, at) => {
      const options = [...encryption, '-c:a', 'aac'];
      return readFile(await makeClip(inBench(`encryption-${at}.mp4`), { ...clip, options }));
    }),
  );
  if (!file || !clear) throw new Error('A clip is missing');
  clear.copy(file, file.indexOf('mdat'), clear.indexOf('mdat'), clear.indexOf('moov') - 4);
  // The first boxes describe the encryption of the video; the test renames them to boxes that are ignored.
  const names = { encv: 'avc1', sinf: 'free', senc: 'free', saio: 'free', saiz: 'free' };
  for (const [name, other] of Object.entries(names)) {
    file.write(other, file.indexOf(name, file.indexOf('moov')), 'latin1');
  }
  const { manifest } = await bench.transcode(await written('half-encrypted.mp4', file));
  expect(manifest).toMatchObject({
    renditions: [{ name: '360p' }],
    inputIssues: [{ code: 'track_left_out', message: 'Track 2 (audio, aac) was left out.' }],
  });
});

test('Dolby Vision without a compatible base layer is refused', async () => {
  const clip = await makeClip(inBench('hevc.mp4'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: [
      '-c:v',
      'libx265',
      '-x265-params',
      'log-level=none',
      '-pix_fmt',
      'yuv420p10le',
      '-tag:v',
      'hvc1',
    ],
  });
  // Version 1.0, profile 5, level 1, with RPU and base layer, whose compatibility id is 0 (none).
  const configuration = Buffer.alloc(24);
  configuration.set([1, 0, 5 << 1, (1 << 3) | 0b101, 0]);
  const dolby = withBox(await readFile(clip), [...TRACK, 'minf', 'stbl', 'stsd', 'hvc1'], (entry) =>
    Buffer.concat([entry, box('dvcC', configuration)]),
  );
  await expectRefused(await written('dolby.mp4', dolby), 'unsupported_codec');
});

test('an MP4 without its index is refused', async () => {
  const clip = await makeClip(inBench('whole.mp4'), { video: 'testsrc2=s=64x64:r=25:d=2' });
  const whole = await readFile(clip);
  await expectRefused(await written('half.mp4', whole.subarray(0, whole.length / 2)), 'malformed_media');
});
