import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expectHlsRules } from '../support/hls-rules.ts';
import { maxDifference, QUARTER_COLOURS, quartered, quartersOfImage } from '../support/quarters.ts';
import { TaskBench } from '../support/task-bench.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
beforeEach(() => {
  bench.audioOnly = 'accepted';
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const TONE = 'sine=d=9';
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Transcodes a file, checks the stream against the rules of HLS, and returns what tests compare. */
async function transcode(path: string) {
  const { videoId, manifest, images } = await made(path);
  await expectHlsRules(bench, videoId, manifest);
  return {
    duration: manifest.duration,
    renditions: manifest.renditions.map(({ name, segments }) => `${name} ${segments.length}`),
    source: manifest.source,
    issues: manifest.inputIssues.map(({ code }) => code),
    poster: images,
    videoId,
    plan: bench.plans.get(videoId),
  };
}

async function made(path: string) {
  const { videoId, manifest } = await bench.transcode(path);
  const { body } = await bench.objects.get(bench.imageKey(videoId, 'poster.jpg'));
  const image = Buffer.concat(await body.toArray());
  expect(image.subarray(0, JPEG.length)).toEqual(JPEG);
  return { videoId, manifest, images: sizeOf(image) };
}

/** The size in the header of the frame of a JPEG image. */
function sizeOf(image: Buffer): string {
  const at = [0xc0, 0xc2]
    .map((marker) => image.indexOf(Buffer.from([0xff, marker])))
    .find((found) => found > 0);
  if (at === undefined) throw new Error('The image has no frame');
  return `${image.readUInt16BE(at + 7)}x${image.readUInt16BE(at + 5)}`;
}

/** A file with sound and a cover. */
async function covered(name: string, cover: string, sound: Clip = { audio: TONE }): Promise<string> {
  const audio = await makeClip(inBench(`plain-${name}`), sound);
  const tracks = ['-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  await ffmpeg('-i', audio, '-i', cover, ...tracks, inBench(name));
  return inBench(name);
}

async function picture(name: string, size: string): Promise<string> {
  await ffmpeg('-f', 'lavfi', '-i', `testsrc2=s=${size}`, '-frames:v', '1', inBench(name));
  return inBench(name);
}

const WAVEFORM = '1280x720';

describe('sound alone is accepted', () => {
  test.each<[file: string, container: string, codec: string, clip: Clip]>([
    ['podcast.mp3', 'mp3', 'mp3', { audio: TONE }],
    ['memo.m4a', 'mp4', 'aac', { audio: TONE }],
    ['old.aac', 'aac', 'aac', { audio: TONE }],
    ['studio.wav', 'wav', 'pcm_s24le', { audio: 'sine=d=9:r=96000', options: ['-c:a', 'pcm_s24le'] }],
    ['mac.aiff', 'aiff', 'pcm_s16be', { audio: TONE }],
    ['music.flac', 'flac', 'flac', { audio: TONE, options: ['-af', 'pan=5.1|c0=c0|c1=c0|c2=c0'] }],
    ['speech.opus', 'ogg', 'opus', { audio: TONE, options: ['-c:a', 'libopus'] }],
    ['song.ogg', 'ogg', 'vorbis', { audio: TONE, options: ['-c:a', 'libvorbis'] }],
    ['recorder.webm', 'matroska', 'opus', { audio: TONE, options: ['-c:a', 'libopus'] }],
    ['telephone.wav', 'wav', 'pcm_mulaw', { audio: 'sine=d=9:r=8000', options: ['-c:a', 'pcm_mulaw'] }],
    ['radio.ts', 'mpegts', 'mp2', { audio: TONE, options: ['-c:a', 'mp2'] }],
    ['film.mkv', 'matroska', 'flac', { audio: TONE, options: ['-c:a', 'flac'] }],
  ])('%s', async (file, container, audioCodec, clip) => {
    const { duration, renditions, source, poster } = await transcode(await makeClip(inBench(file), clip));
    expect(Math.abs(duration - 9)).toBeLessThan(0.06);
    expect({ renditions, source, poster }).toMatchObject({
      renditions: ['audio 4'],
      source: { container, audioCodec, videoCodec: null, width: null, height: null, frameRate: null },
      poster: WAVEFORM,
    });
  });

  test('of a telephone, in AMR', async () => {
    // Debian's ffmpeg has no encoder: frames of mode 0 with zeros, 50 a second.
    const frame = Buffer.from([0x04, ...Array(12).fill(0)]);
    await writeFile(inBench('memo.amr'), Buffer.concat([Buffer.from('#!AMR\n'), ...Array(450).fill(frame)]));
    const { source, duration } = await transcode(inBench('memo.amr'));
    expect(source).toMatchObject({ container: 'amr', audioCodec: 'amr_nb' });
    expect(duration).toBeCloseTo(9);
  });

  test('with chapters and a cover', async () => {
    const metadata =
      ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=4\ntitle=Opening\n[CHAPTER]\nTIMEBASE=1/1\nSTART=4\nEND=9\ntitle=Rest\n';
    await writeFile(inBench('chapters.txt'), metadata);
    const file = await covered('plain-chapters.m4a', await picture('chapters.jpg', '400x400'));
    const tracks = ['-map', '0', '-map_metadata', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
    await ffmpeg('-i', file, '-i', inBench('chapters.txt'), ...tracks, inBench('chapters.m4a'));
    const { poster, issues } = await transcode(inBench('chapters.m4a'));
    expect({ poster, issues }).toEqual({ poster: '400x400', issues: [] });
  });

  test('and copied if it is AAC in MP4', async () => {
    const clip = await makeClip(inBench('copied.m4a'), {
      audio: TONE,
      options: ['-ac', '2', '-ar', '48000'],
    });
    const { plan } = await transcode(clip);
    expect(plan?.encode.audio).toMatchObject([{ method: { copiedFrames: expect.any(Number) } }]);
  });

  test('with all its languages, as long as the longest track', async () => {
    const options = [
      ...['-f', 'lavfi', '-i', 'sine=d=13', '-map', '0', '-map', '1'],
      ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=deu'],
    ];
    const { duration, renditions } = await transcode(
      await makeClip(inBench('languages.mka'), { audio: TONE, options }),
    );
    expect(duration).toBeCloseTo(13, 1);
    expect(renditions).toEqual(['audio 4', 'audio2 4']);
  });

  test('of a tenth of a second', async () => {
    const { duration } = await transcode(await makeClip(inBench('short.wav'), { audio: 'sine=d=0.15' }));
    expect(duration).toBeCloseTo(0.15);
  });

  test('and drawn as a waveform if it is longer than a minute', async () => {
    const clip = { audio: 'sine=d=70', options: ['-c:a', 'libmp3lame'] };
    expect(await transcode(await makeClip(inBench('minute.mp3'), clip))).toMatchObject({ poster: WAVEFORM });
  });

  test('if it is cut off, with the part that exists', async () => {
    const clip = await makeClip(inBench('whole.flac'), { audio: TONE });
    const bytes = await readFile(clip);
    await writeFile(inBench('cut.flac'), bytes.subarray(0, bytes.length / 2));
    const { duration, issues } = await transcode(inBench('cut.flac'));
    expect(duration).toBeLessThan(6);
    expect(issues).toEqual(['truncated']);
  });
});

describe('the cover picture is the poster', () => {
  test.each([
    ['episode.mp3', 'cover.jpg', '1500x1000', '1080x720'],
    ['episode.m4a', 'cover.png', '300x300', '300x300'],
    ['episode.flac', 'odd.png', '1201x1501', '720x900'],
  ])('of %s with %s of %s', async (file, cover, size, expected) => {
    const { poster, source } = await transcode(await covered(file, await picture(cover, size)));
    expect(poster).toBe(expected);
    expect(source.videoCodec).toBeNull();
  });

  test.each(['cover.jpg', 'cover.png'])('in the colours of %s', async (name) => {
    const cover = inBench(`coloured-${name}`);
    await ffmpeg('-f', 'lavfi', '-i', quartered(1), '-frames:v', '1', '-q:v', '2', cover);
    const { videoId } = await made(await covered('coloured.mp3', cover));
    const poster = await quartersOfImage(bench, bench.imageKey(videoId, 'poster.jpg'));
    expect(maxDifference(poster, QUARTER_COLOURS)).toBeLessThanOrEqual(4);
  });

  test.each([
    ['it is damaged', (png: Buffer) => png.fill(0, 60)],
    [
      'it claims 900 million pixels',
      (png: Buffer) => {
        png.writeUInt32BE(30_000, 16);
        png.writeUInt32BE(30_000, 20);
        return png;
      },
    ],
  ])('unless %s', async (_, change) => {
    const cover = await picture('bad.png', '320x240');
    const file = await covered('bad.flac', cover);
    const png = await readFile(cover);
    const bytes = await readFile(file);
    const at = bytes.indexOf(png.subarray(0, 32));
    change(bytes.subarray(at, at + png.length));
    await writeFile(file, bytes);
    expect(await transcode(file)).toMatchObject({ poster: WAVEFORM });
  });

  test('unless it is a JPEG image that claims four billion pixels', async () => {
    const cover = await picture('huge.jpg', '320x240');
    const file = await covered('huge.mp3', cover);
    const bytes = await readFile(file);
    const at = bytes.indexOf(Buffer.from([0xff, 0xc0]), bytes.indexOf(JPEG));
    bytes.writeUInt16BE(65_500, at + 5);
    bytes.writeUInt16BE(65_500, at + 7);
    await writeFile(file, bytes);
    expect(await transcode(file)).toMatchObject({ poster: WAVEFORM });
  });

  test('unless it has another codec', async () => {
    const file = await covered('gif.mp3', await picture('cover.gif', '320x240'));
    expect(await transcode(file)).toMatchObject({ poster: WAVEFORM });
  });
});

describe('long sound alone has a task for all audio and one for the poster', () => {
  let tasks: TaskBench;
  beforeAll(async () => {
    tasks = await TaskBench.start();
  });
  afterAll(() => tasks.stop());

  test.each([
    ['a waveform', () => makeClip(inBench('long.mp3'), { audio: TONE }), 0],
    ['a cover', async () => covered('long.flac', await picture('long.png', '320x240')), 1],
    [
      'a transport stream whose clock begins late',
      () =>
        makeClip(inBench('late.ts'), { audio: TONE, options: ['-c:a', 'mp2', '-output_ts_offset', '50'] }),
      0,
    ],
  ])('%s', async (_, file, covers) => {
    const { video, plan, manifest } = await tasks.transcode(await file(), 3);
    expect(plan.tasks.map(({ kind }) => kind)).toEqual(['audio', 'images']);
    expect(plan.encode.images.ofSound?.cover === null ? 0 : 1).toBe(covers);
    expect(manifest.poster?.bytes).toBeGreaterThan(1000);
    await expectHlsRules(tasks, video.videoId, manifest);
  });
});

describe('if sound alone is required', () => {
  beforeEach(() => {
    bench.audioOnly = 'required';
  });

  test('video is left out', async () => {
    const clip = { video: 'testsrc2=s=320x240:r=25:d=3', audio: 'sine=d=3' };
    const { renditions, issues, source } = await transcode(await makeClip(inBench('film.mp4'), clip));
    expect(renditions).toEqual(['audio 2']);
    expect(issues).toEqual(['track_left_out']);
    expect(source.videoCodec).toBeNull();
  });

  test('a file without sound is refused', async () => {
    const clip = await makeClip(inBench('silent.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    expect(await bench.refuse(clip)).toMatchObject({ code: 'no_audio_track', retryable: false });
  });
});

test('if sound alone is accepted, video is still video', async () => {
  const clip = { video: 'testsrc2=s=320x240:r=25:d=2', audio: 'sine=d=2' };
  const { manifest } = await bench.transcode(await makeClip(inBench('video.mp4'), clip));
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', 'audio']);
});

describe('if sound alone is refused, the message says how to publish it', () => {
  beforeEach(() => {
    bench.audioOnly = 'refused';
  });

  test.each([
    ['refused.m4a', 'no_video_track'],
    ['refused.mp3', 'not_a_video'],
    ['refused.wav', 'not_a_video'],
  ])('%s', async (file, code) => {
    const refused = await bench.refuse(await makeClip(inBench(file), { audio: TONE }));
    expect(refused).toMatchObject({ code, message: expect.stringContaining('"audioOnly": true') });
  });
});

test.each([
  [
    'random bytes after the header of an MP3',
    Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.alloc(9000, 7)]),
  ],
  [
    'the header of a WAV without samples',
    Buffer.from(
      'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0',
      'latin1',
    ),
  ],
])('%s is refused', async (_, bytes) => {
  await writeFile(inBench('broken.mp3'), bytes);
  expect(await bench.refuse(inBench('broken.mp3'))).toMatchObject({ retryable: false });
});
