import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { Trim } from '@framelane/contracts/trim';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  BT709,
  COUNTED_SIZE,
  countedClip,
  EditedClip,
  PITCH_STEP,
  secondsHeardIn,
  shownNumbers,
} from '../support/edited-clips.ts';
import { expectHlsRules } from '../support/hls-rules.ts';
import type { MadeVideo } from '../support/made-video.ts';
import { greyFramesAndSamples } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { TaskBench } from '../support/task-bench.ts';
import { type StoredVideos, WorkerBench } from '../support/worker-bench.ts';

jest.setTimeout(240_000);

let whole: WorkerBench;
let pieces: TaskBench;
beforeAll(async () => {
  whole = await WorkerBench.start();
  pieces = await TaskBench.start({ preset: 'ultrafast' });
});
afterAll(async () => {
  await whole.stop();
  await pieces.stop();
});

const inBench = (name: string) => join(whole.directory, name);

/** A video as viewers get it: the numbers of its frames, and what is heard in each tenth of a second. */
type Shown = { videoId: string; manifest: MadeVideo; numbers: number[]; heard: number[] };

async function shown(bench: StoredVideos, videoId: string, manifest: MadeVideo): Promise<Shown> {
  const { renditions, startTimestamp } = manifest;
  const video = renditions.find(({ width }) => width !== null);
  const audio = renditions.find(({ width }) => width === null);
  // Audio begins a few samples before or after the video: its timestamps say where.
  const moved = `asetpts=PTS-${startTimestamp / CLOCK_HZ}/TB,aresample=48000:async=1:first_pts=0`;
  const [frames, samples] = await greyFramesAndSamples(
    video && {
      path: await renditionFile(bench, videoId, video),
      width: COUNTED_SIZE,
      height: COUNTED_SIZE,
    },
    audio && { path: await renditionFile(bench, videoId, audio), options: ['-af', moved, '-ac', '1'] },
  );
  return { videoId, manifest, numbers: shownNumbers(frames), heard: secondsHeardIn(samples) };
}

/** A file transcoded as a whole. */
async function transcode(path: string, trim?: Trim): Promise<Shown> {
  whole.trim = trim;
  const { videoId, manifest } = await whole.transcode(path);
  if (trim) await expectHlsRules(whole, videoId, manifest);
  return shown(whole, videoId, manifest);
}

/** The same in pieces of five seconds. */
async function transcodeInPieces(path: string, trim?: Trim): Promise<Shown> {
  pieces.trim = trim;
  const { video, manifest } = await pieces.transcode(path, 5);
  if (trim) await expectHlsRules(pieces, video.videoId, manifest);
  return shown(pieces, video.videoId, manifest);
}

/** Checks that a trimmed video has what the whole one has from `start` on, and nothing else. */
function expectPart(part: Shown, of: Shown, { start, end }: { start: number; end: number }, rate = 25): void {
  const first = Math.round(start * rate);
  const frames = Math.round(end * rate) - first;
  expect(part.numbers).toEqual(of.numbers.slice(first, first + frames));
  expect(part.manifest.duration).toBeCloseTo(frames / rate, 3);
  expectHeard(part, of.heard, first / rate);
}

/** What is heard at a time must be what the whole has heard that much later, except where it begins or ends. */
function expectHeard({ heard, manifest }: Shown, all: readonly number[], start: number): void {
  const wrong = heard.flatMap((second, at) => {
    const time = start + (at + 1) * PITCH_STEP;
    const expected = all[Math.round(time / PITCH_STEP) - 1] ?? Number.NaN;
    // The tones rise by as much as the time.
    const due = expected + time - PITCH_STEP * Math.round(time / PITCH_STEP);
    const isSame = Number.isNaN(second) ? Number.isNaN(due) : Math.abs(second - due) < 0.03;
    return isSame || isNearEdge(all, time) ? [] : [`${second} instead of ${due} at ${time}`];
  });
  expect(wrong).toEqual([]);
  expect(heard.length).toBeGreaterThanOrEqual(Math.floor(manifest.duration / PITCH_STEP) - 2);
}

/** Whether the tone begins or ends within two measurements of a time. */
function isNearEdge(all: readonly number[], time: number): boolean {
  const at = Math.round(time / PITCH_STEP) - 1;
  const near = [-2, -1, 0, 1, 2].map((by) => Number.isNaN(all[at + by] ?? Number.NaN));
  return near.includes(true) && near.includes(false);
}

const CLIP = countedClip({ seconds: 16 });
const H264 = [...BT709, '-preset', 'veryfast', '-g', '50', '-bf', '2', '-sc_threshold', '0'];
const AAC = ['-c:a', 'aac'];
const made = (...options: string[]): Clip => ({ ...CLIP, options });

describe('a trimmed video has exactly the frames and the sound of its part', () => {
  test.each<[name: string, file: string, clip: Clip]>([
    ['H.264 that could be copied', 'copied.mp4', made(...H264, ...AAC)],
    [
      'open groups of pictures, and MP3',
      'open.mkv',
      made(...H264, '-x264-params', 'open-gop=1', '-c:a', 'libmp3lame', '-b:a', '64k'),
    ],
    [
      'HEVC of phones, with open groups of pictures',
      'phone.mov',
      made(
        ...BT709,
        '-c:v',
        'libx265',
        '-preset',
        'ultrafast',
        '-x265-params',
        'log-level=error:keyint=30:min-keyint=30:open-gop=1:bframes=3',
        '-tag:v',
        'hvc1',
        ...AAC,
      ),
    ],
    [
      'VP8 and Opus',
      'vp8.webm',
      made(...BT709, '-c:v', 'libvpx', '-deadline', 'realtime', '-g', '60', '-c:a', 'libopus'),
    ],
    [
      'a variable frame rate',
      'variable.mkv',
      made(...H264, '-vf', String.raw`select=not(eq(mod(n\,7)\,3))`, '-vsync', 'vfr', ...AAC),
    ],
    [
      'a transport stream whose clock begins hours later',
      'late.ts',
      made(...H264, '-c:a', 'ac3', '-output_ts_offset', '30000'),
    ],
    [
      'AVI, in which no run can begin in the middle',
      'a.avi',
      made(...BT709, '-c:v', 'mpeg4', '-q:v', '1', '-c:a', 'libmp3lame'),
    ],
    [
      'fragments',
      'fragments.mp4',
      made(...H264, ...AAC, '-movflags', '+frag_keyframe+default_base_moof+delay_moov'),
    ],
    ['one key frame', 'one.mp4', made(...H264, '-g', '9999', ...AAC)],
    ['sound that begins late', 'late.mkv', made(...H264, ...AAC, '-af', 'adelay=9500')],
    ['sound that ends before', 'short.mkv', made(...H264, ...AAC, '-af', 'atrim=end=5')],
  ])('%s', async (_, file, clip) => {
    const path = await makeClip(inBench(file), clip);
    const all = await transcode(path);
    const end = all.numbers.length / 25;
    for (const times of [
      { start: 8.3, end: 12.7 },
      { start: 13.04, end },
    ]) {
      expectPart(await transcode(path, { ...times, end: times.end === end ? null : times.end }), all, times);
    }
  });

  test('at 30000/1001 frames a second', async () => {
    const rate = 30_000 / 1001;
    const clip = countedClip({ rate: '30000/1001', seconds: 16 });
    const path = await makeClip(inBench('ntsc.mp4'), { ...clip, options: [...H264, ...AAC] });
    const times = { start: 8.3, end: 12.7 };
    expectPart(await transcode(path, times), await transcode(path), times, rate);
  });

  test('from the beginning', async () => {
    const path = await makeClip(inBench('beginning.mp4'), made(...H264, ...AAC));
    const times = { start: 0, end: 5.02 };
    const [all, part] = [await transcode(path), await transcode(path, times)];
    expect(whole.copiesVideo.has(all.videoId)).toBe(true);
    expect(whole.copiesVideo.has(part.videoId)).toBe(false);
    expectPart(part, all, times);
    expect(all.manifest.inputIssues).toEqual([]);
    expect(part.manifest.inputIssues).toEqual([
      {
        code: 'copy_prevented',
        message: 'The highest quality was encoded instead of copied, because the video is trimmed.',
      },
    ]);
  });
});

describe('a long part is made in pieces', () => {
  const long = countedClip({ seconds: 40 });

  test.each<[file: string, options: string[]]>([
    ['pieces.mp4', [...H264, ...AAC]],
    ['pieces.mkv', [...H264, '-x264-params', 'open-gop=1', '-c:a', 'libmp3lame']],
    ['pieces.ts', [...H264, '-c:a', 'ac3', '-output_ts_offset', '30000']],
  ])('%s', async (file, options) => {
    const path = await makeClip(inBench(file), { ...long, options });
    const all = await transcode(path);
    const times = { start: 20.12, end: 35.04 };
    const part = await transcodeInPieces(path, times);
    expectPart(part, all, times);
    expect(part.manifest.storyboard).toMatchObject({ tiles: 15, interval: 1 });
  });
});

describe('times that the file does not have', () => {
  const path = () =>
    makeClip(inBench('short.mp4'), { ...countedClip({ seconds: 2 }), options: [...H264, ...AAC] });

  test.each([[{ start: 2, end: null }], [{ start: 1.95, end: 9 }], [{ start: 1e6, end: null }]])(
    '%j begins too late',
    async (trim) => {
      whole.trim = trim;
      const failure = await whole.refuse(await path());
      expect(failure).toMatchObject({
        code: 'trim_after_end',
        retryable: false,
        message: expect.stringMatching(
          /^The video lasts 2\.000 seconds, and the trim begins at second [\d.]+\./,
        ),
      });
    },
  );

  test('an end after that of the file is that of the file', async () => {
    const part = await transcode(await path(), { start: 1.2, end: 60 });
    expect(part.numbers).toEqual(Array.from({ length: 20 }, (_, at) => 30 + at));
    expect(part.manifest.inputIssues).toContainEqual({
      code: 'trim_shortened',
      message: 'The trim ends with the file, which lasts 2.000 seconds.',
    });
  });

  test('a part that is all of the file is copied', async () => {
    const part = await transcode(await path(), { start: 0, end: 60 });
    expect(whole.copiesVideo.has(part.videoId)).toBe(true);
    expect(part.manifest.inputIssues.map(({ code }) => code)).toEqual(['trim_shortened']);
  });
});

/** Moves the packets of the audio of a transport stream ahead in the file. */
async function withAudioAhead(path: string, packets: number): Promise<string> {
  const file = await readFile(path);
  const all = Array.from({ length: file.length / TS_PACKET }, (_, at) =>
    file.subarray(at * TS_PACKET, (at + 1) * TS_PACKET),
  );
  const place = (packet: Buffer, at: number) => (isAudio(packet) ? at - packets : at);
  const ordered = all
    .map((packet, at) => ({ packet, place: place(packet, at) }))
    .toSorted((a, b) => a.place - b.place);
  const moved = `${path}.ahead.ts`;
  await writeFile(moved, Buffer.concat(ordered.map(({ packet }) => packet)));
  return moved;
}

const TS_PACKET = 188;
/** ffmpeg gives the second track this PID. */
const isAudio = (packet: Buffer) => (packet.readUInt16BE(1) & 0x1fff) === 0x101;

test('sound that is seconds before its pictures in the file is complete', async () => {
  const clip = made(...H264, '-c:a', 'ac3', '-b:a', '192k', '-muxrate', '1M');
  const path = await withAudioAhead(await makeClip(inBench('interleaved.ts'), clip), 3000);
  const times = { start: 9, end: 13 };
  expectPart(await transcode(path, times), await transcode(path), times);
});

test('a file with an edit list', async () => {
  const clip = await EditedClip.make('with B-frames', inBench('unedited.mp4'));
  const path = inBench('edited.mp4');
  const edits = [{ from: 5.04, lasts: 14 }];
  await clip.write(path, { video: edits, audio: edits });
  const times = { start: 3.2, end: 9.6 };
  const part = await transcode(path, times);
  expectPart(part, await transcode(path), times);
  expect(part.numbers[0]).toBe(206);
});

test('text and chapters are cut, and have the times of the part', async () => {
  await writeFile(
    inBench('text.srt'),
    '1\n00:00:01,000 --> 00:00:05,000\nBefore and within\n\n2\n00:00:06,000 --> 00:00:20,000\nTo the end\n\n3\n00:00:09,000 --> 00:00:10,000\nAfter\n',
  );
  await writeFile(
    inBench('chapters.txt'),
    [
      ';FFMETADATA1',
      ...[
        [0, 3, 'One'],
        [3, 6, 'Two'],
        [6, 9, 'Three'],
        [9, 16, 'Four'],
      ].flatMap(([start, end, title]) => [
        '[CHAPTER]',
        'TIMEBASE=1/1',
        `START=${start}`,
        `END=${end}`,
        `title=${title}`,
      ]),
    ].join('\n'),
  );
  const video = await makeClip(inBench('plain.mkv'), made(...H264, ...AAC));
  const path = inBench('text.mkv');
  await ffmpeg(
    '-i',
    video,
    '-i',
    inBench('text.srt'),
    '-i',
    inBench('chapters.txt'),
    '-map',
    '0',
    '-map',
    '1',
    '-map_chapters',
    '2',
    '-c',
    'copy',
    '-c:s',
    'srt',
    path,
  );
  whole.trim = { start: 4, end: 8.4 };
  const { manifest } = await whole.transcode(path);
  expect(manifest.chapters).toEqual([
    { start: 0, title: 'Two' },
    { start: expect.closeTo(2000, -2), title: 'Three' },
  ]);
  expect(manifest.captions.map(({ webvtt }) => webvtt.match(/-->.*\n.*/g))).toEqual([
    [
      expect.stringMatching(/^--> 00:00:0(0\.9|1\.0)\d\d\nBefore and within$/),
      '--> 00:00:04.400\nTo the end',
    ],
  ]);
});

test.each([
  ['sound.m4a', ['-c:a', 'aac']],
  ['sound.mp3', ['-c:a', 'libmp3lame', '-q:a', '5']],
  ['sound.flac', ['-c:a', 'flac']],
])('sound alone: %s', async (file, options) => {
  whole.audioOnly = 'required';
  const path = await makeClip(inBench(file), { audio: CLIP.audio, options });
  const all = await transcode(path);
  const part = await transcode(path, { start: 7.3, end: 11.45 });
  whole.audioOnly = 'refused';
  expect(part.manifest.duration).toBe(4.15);
  expectHeard(part, all.heard, 7.3);
});

test('sound alone that has no sound in the part', async () => {
  whole.audioOnly = 'required';
  const path = await makeClip(inBench('gap.mka'), {
    audio: 'sine=d=5',
    options: ['-itsoffset', '30', '-f', 'lavfi', '-i', 'sine=d=5', '-map', '0', '-map', '1', ...AAC],
  });
  const times = { start: 7, end: 25 };
  for (const part of [await transcode(path, times), await transcodeInPieces(path, times)]) {
    expect(part.manifest.duration).toBe(18);
    expect(part.manifest.poster).not.toBeNull();
  }
  whole.audioOnly = 'refused';
});

test('sound alone that is made in tasks', async () => {
  const path = await makeClip(inBench('long-sound.m4a'), {
    audio: countedClip({ seconds: 40 }).audio,
    options: AAC,
  });
  const all = await transcodeInPieces(path);
  const times = { start: 20.5, end: 36 };
  const part = await transcodeInPieces(path, times);
  expect(part.manifest.duration).toBe(15.5);
  expectHeard(part, all.heard, 20.5);
});

test('slides: the last picture is shown until the part ends', async () => {
  const path = await makeClip(inBench('slides.mkv'), {
    ...countedClip({ rate: '1/4', seconds: 12 }),
    audio: countedClip({ seconds: 60 }).audio,
    options: [...H264, '-g', '1', ...AAC],
  });
  const [all, part] = [await transcode(path), await transcode(path, { start: 40, end: 44 })];
  expect(new Set(part.numbers)).toEqual(new Set([2]));
  expect(part.manifest.poster).not.toBeNull();
  expect(part.manifest.storyboard).toMatchObject({ tiles: 4 });
  expect(part.manifest.duration).toBe(4);
  expectHeard(part, all.heard, 40);
});

describe('a file that lasts longer than a video may', () => {
  let strict: WorkerBench;
  beforeAll(async () => {
    strict = await WorkerBench.start({ limits: { maxDurationSeconds: 10 } });
  });
  afterAll(() => strict.stop());

  test.each([
    [{ start: 3, end: 9 }, null],
    [{ start: 1, end: 12 }, 'duration_exceeded'],
    [undefined, 'duration_exceeded'],
  ])('%j of it: %s', async (trim, code) => {
    strict.trim = trim;
    const videoId = await strict.submit(
      await makeClip(join(strict.directory, 'a.mp4'), made(...H264, ...AAC)),
    );
    const result = await strict.result(videoId);
    expect(result.type === 'task.failed' ? result.data.code : null).toBe(code);
  });
});

test('a run without progress has more time while it drops the beginning of the file', async () => {
  // No run can make progress as soon as that.
  const strict = await WorkerBench.start({ limits: { stallSeconds: 0.001 } });
  try {
    const clip = made(...BT709, '-c:v', 'mpeg4', '-c:a', 'libmp3lame');
    const path = await makeClip(join(strict.directory, 'a.avi'), clip);
    expect(await strict.refuse(path)).toMatchObject({ code: 'transcode_timeout' });
    strict.trim = { start: 15, end: null };
    expect((await strict.transcode(path)).manifest.duration).toBeGreaterThan(0.9);
  } finally {
    await strict.stop();
  }
});
