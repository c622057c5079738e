import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import { taskNumber } from '@framelane/contracts/outputs/tasks';
import { segmentName } from '@framelane/contracts/packaging';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodedRenditions } from '../../src/plan/encode-plan.ts';
import { compareWithWhole, framesOfPieces, framesOfWhole } from '../support/encoder-frames.ts';
import { decrypted, hlsViolations } from '../support/hls-rules.ts';
import type { MadeVideo } from '../support/made-video.ts';
import { type DisplayMatrix, withDisplayMatrix } from '../support/mp4-boxes.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { TaskBench } from '../support/task-bench.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: TaskBench;
let reference: WorkerBench;
beforeAll(async () => {
  bench = await TaskBench.start();
  reference = await WorkerBench.start({ preset: 'veryfast' });
});
afterAll(async () => {
  await bench.stop();
  await reference.stop();
});

const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '60', '-bf', '3'];
const OPEN_GOP = [...H264, '-x264-params', 'open-gop=1'];
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params'];
const INTERLACED = ['-flags', '+ildct+ilme', '-top', '1'];
const TIMES_AS_MADE = ['-vsync', 'passthrough', '-enc_time_base', '1:90000'];
const SECONDS = 20;
/** Few pixels: most of the time of a test passes in the starts of programs. */
const motion = (rate: string, size = '96x64', seconds = SECONDS) =>
  `testsrc2=s=${size}:r=${rate}:d=${seconds}`;
/** For two renditions. Most of the frame is black, which takes little time to encode and to decode. */
const large = (rate: string, seconds: number) => `${motion(rate, '240x240', seconds)},pad=480:480`;
const jitter = (seconds: number) =>
  `${motion('30', undefined, seconds)},settb=1/90000,setpts=PTS+(random(0)-0.5)*0.02/TB`;
/** Between 10 and 20 frames a second, and a pause of two seconds. */
const variable = (seconds: number) =>
  `${motion('30', undefined, seconds)},select='not(mod(n,3))+not(mod(n,7))',select='not(between(t,11,13))'`;
const television = (seconds: number) => `${motion('50', undefined, seconds)},interlace=scan=tff:lowpass=off`;
const HDR_TAGS = 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';

type Source = {
  file: string;
  video: string;
  audio?: string;
  options: string[];
  /** Whether most pieces need only parts of the file. */
  inParts?: boolean;
  /** Options of a stream copy that changes the file. */
  copied?: { before?: string[]; options?: string[] };
  matrix?: DisplayMatrix;
};

/** Seconds of clips whose pieces of six seconds need only a part of the file. */
const LONGER = 26;
/** The same for clips without a regular frame rate, which have fewer places to cut. */
const LONGEST = 40;

/** Each source lasts long enough for several pieces of six seconds. */
const SOURCES: Record<string, Source> = {
  'MP4 with B-frames': {
    file: 'b.mp4',
    inParts: true,
    video: motion('30000/1001', undefined, LONGER),
    options: H264,
  },
  'MP4 at 23.976 frames a second': {
    file: 'film.mp4',
    inParts: true,
    video: motion('24000/1001', undefined, LONGER),
    options: H264,
  },
  'MP4 with open GOPs': {
    file: 'open.mp4',
    inParts: true,
    video: motion('25', undefined, LONGER),
    options: OPEN_GOP,
  },
  'MP4 with rare key frames': { file: 'rare.mp4', video: motion('25'), options: [...H264, '-g', '130'] },
  'MP4 in fragments': {
    file: 'fragments.mp4',
    video: motion('25'),
    options: [...H264, '-movflags', '+frag_keyframe+empty_moov'],
  },
  'MP4 whose first frames are hidden': {
    file: 'cut.mp4',
    inParts: true,
    video: motion('25', undefined, LONGER),
    options: H264,
    copied: { before: ['-ss', '1.3'] },
  },
  'MP4 with jittering times': {
    file: 'jitter.mp4',
    inParts: true,
    video: jitter(LONGEST),
    options: [...H264, ...TIMES_AS_MADE, '-video_track_timescale', '90000'],
  },
  'MP4 with a variable frame rate': {
    file: 'vfr.mp4',
    inParts: true,
    video: variable(LONGEST),
    options: [...H264, '-vsync', 'vfr'],
  },
  'MP4 that is rotated': {
    file: 'rotated.mp4',
    inParts: true,
    video: motion('25', undefined, LONGER),
    options: H264,
    matrix: [0, 1, -1, 0],
  },
  'MP4 with interlaced H.264': {
    file: 'interlaced.mp4',
    inParts: true,
    video: television(LONGER),
    options: [...H264, ...INTERLACED],
  },
  'MP4 with HDR': {
    file: 'hdr.mp4',
    inParts: true,
    video: motion('25', undefined, LONGER),
    options: [...HEVC, `log-level=none:keyint=75:${HDR_TAGS}`, '-pix_fmt', 'yuv420p10le'],
  },
  'MP4 of which lower renditions have half the frames': {
    file: 'fast.mp4',
    inParts: true,
    video: large('40000/1001', SECONDS),
    options: H264,
  },
  'MP4 with audio and its index first': {
    file: 'index-first.mp4',
    inParts: true,
    video: motion('25', undefined, LONGER),
    audio: `sine=d=${LONGER}`,
    options: [...OPEN_GOP, '-movflags', '+faststart'],
  },
  'MOV with audio and a timecode': {
    file: 'timecode.mov',
    inParts: true,
    video: motion('25', undefined, LONGER),
    audio: `sine=d=${LONGER}`,
    options: [...H264, '-c:a', 'pcm_s16le', '-timecode', '01:00:00:00'],
  },
  'MOV with ProRes': {
    file: 'prores.mov',
    inParts: true,
    video: motion('25', undefined, LONGER),
    options: ['-c:v', 'prores_ks', '-profile:v', '0'],
  },
  Matroska: { file: 'm.mkv', video: motion('30'), options: OPEN_GOP },
  'Matroska at 29.97 frames a second': { file: 'n.mkv', video: motion('30000/1001'), options: H264 },
  'Matroska with a variable frame rate': {
    file: 'vfr.mkv',
    video: variable(SECONDS),
    options: [...H264, '-vsync', 'vfr'],
  },
  'Matroska with film in 3:2 pulldown whose cadence breaks': {
    file: 'pulldown.mkv',
    video: `${motion('24')},settb=1001/60000,setpts=floor(N/2)*5+mod(N\\,2)*2-gte(N\\,240)`,
    options: [...H264, '-vsync', 'passthrough', '-enc_time_base', '1001/60000'],
  },
  'WebM without an index': {
    file: 'live.webm',
    video: jitter(SECONDS),
    options: ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', ...TIMES_AS_MADE, '-live', '1'],
  },
  'WebM with hidden frames': {
    file: 'vp9.webm',
    video: motion('25'),
    options: [
      '-c:v',
      'libvpx-vp9',
      '-deadline',
      'good',
      '-cpu-used',
      '8',
      '-auto-alt-ref',
      '1',
      '-lag-in-frames',
      '16',
    ],
  },
  'MPEG-TS': { file: 'ts.ts', video: motion('25'), options: H264 },
  'MPEG-TS whose clock wraps': {
    file: 'wraps.ts',
    video: motion('25'),
    options: [...OPEN_GOP, '-output_ts_offset', '95435'],
  },
  'MPEG-TS with audio': {
    file: 'sound.ts',
    video: motion('25'),
    audio: `sine=d=${SECONDS}`,
    options: [...OPEN_GOP, '-b:v', '4M', '-output_ts_offset', '700'],
  },
  'MPEG-TS whose video pauses while its audio goes on': {
    file: 'pause.ts',
    video: `${motion('25', undefined, LONGEST)},select='not(between(t,3,15.99))'`,
    audio: `sine=d=${LONGEST}`,
    options: [...H264, '-vsync', 'vfr'],
  },
  'MPEG-TS whose video begins late': {
    file: 'late-video.ts',
    video: motion('25', undefined, LONGER),
    audio: `sine=d=${LONGER}`,
    options: [...H264, '-vf', 'select=gte(t\\,9)', '-vsync', 'vfr'],
  },
  'MPEG-TS with open GOPs': { file: 'open.ts', video: motion('25'), options: OPEN_GOP },
  'MPEG-TS with HEVC and open GOPs': {
    file: 'hevc.ts',
    video: motion('25'),
    options: [...HEVC, 'log-level=none:open-gop=1:keyint=50:bframes=4'],
  },
  'MPEG-TS with interlaced MPEG-2': {
    file: 'mpeg2.ts',
    video: television(SECONDS),
    options: ['-c:v', 'mpeg2video', '-q:v', '3', '-bf', '2', '-g', '12', ...INTERLACED],
  },
  'MPEG-TS with interlaced H.264': {
    file: 'interlaced.ts',
    video: television(SECONDS),
    options: [...OPEN_GOP, ...INTERLACED],
  },
  'MPEG-TS with a variable frame rate': {
    file: 'vfr.ts',
    video: variable(SECONDS),
    options: [...H264, '-vsync', 'vfr'],
  },
};

/** Makes the file of a source. */
async function makeSource({ file, copied, matrix, ...clip }: Source): Promise<string> {
  const path = await makeClip(join(bench.directory, file), clip);
  const changed = join(bench.directory, `changed-${file}`);
  if (matrix) await writeFile(changed, withDisplayMatrix(await readFile(path), matrix));
  else if (copied)
    await ffmpeg(...(copied.before ?? []), '-i', path, '-c', 'copy', ...(copied.options ?? []), changed);
  return matrix || copied ? changed : path;
}

describe('the frames that enter the encoders of all pieces are those of one run', () => {
  test.each(Object.entries(SOURCES))('%s', async (_, source) => {
    const stored = await bench.store(await makeSource(source));
    const { encode, tasks } = await bench.taskPlan(stored, 6, false);
    await bench.withSource(stored, async (directory) => {
      const whole = await framesOfWhole(directory, encode);
      const pieces = tasks.filter((task): task is PieceTask => task.kind === 'piece');
      expect(pieces.length).toBeGreaterThan(1);
      const fromParts = pieces.filter(({ bytes }) => bytes !== undefined).length;
      if (source.inParts) expect(fromParts).toBeGreaterThanOrEqual(pieces.length / 2);
      else expect(fromParts).toBe(0);
      const ofPieces = await bench.withPieceInputs(stored, directory, pieces, (inputs) =>
        framesOfPieces(encode, inputs),
      );
      for (const [name, frames] of whole) {
        const joined = ofPieces.flatMap((piece) => piece.get(name) ?? []);
        expect(joined.length).toBe(frames.length);
        const wrong = frames.flatMap((frame, at) =>
          joined[at]?.number === frame.number && joined[at].checksum === frame.checksum ? [] : [at],
        );
        expect(wrong).toEqual([]);
        expect(new Set(frames.map(({ checksum }) => checksum)).size).toBeGreaterThan(frames.length / 3);
      }
    });
  });
});

/** A manifest without what differs between two encodings. */
function comparable({ renditions, iFrames, poster, storyboard, ...rest }: MadeVideo) {
  const durations = (rendition: Manifest['renditions'][number]) => ({
    ...rendition,
    segments: rendition.segments.map(({ duration }) => duration),
  });
  return {
    ...rest,
    renditions: renditions.map(durations),
    iFrames: iFrames && durations(iFrames),
    poster: poster !== null,
    storyboard: storyboard && { ...storyboard, bytes: 0 },
  };
}

const bytesOf = ({ segments }: Manifest['renditions'][number]) =>
  segments.reduce((sum, { bytes }) => sum + bytes, 0);

/** Seconds. A little more than two pieces of nine seconds, which each have two segments. */
const TWO_PIECES = 18.5;

/** Sources that are transcoded in pieces and as a whole, and the kinds of their tasks. */
const VIDEOS: [string, Source, string[]][] = [
  [
    'MP4 with audio that is encoded',
    {
      file: 'sound.mp4',
      video: motion('25'),
      audio: `sine=d=${SECONDS}`,
      options: [...OPEN_GOP, '-c:a', 'ac3'],
    },
    ['audio', 'piece', 'piece', 'images'],
  ],
  [
    'MP4 with a stream copy of video and audio',
    {
      file: 'kept.mp4',
      video: large('30000/1001', TWO_PIECES),
      audio: `anoisesrc=d=${TWO_PIECES}:a=0.1`,
      options: [...H264, '-c:a', 'aac', '-ac', '2'],
    },
    ['copy', 'audio', 'piece', 'piece', 'images'],
  ],
  [
    'MP4 of which lower renditions have half the frames',
    { file: 'half.mp4', video: large('50', TWO_PIECES), options: OPEN_GOP },
    ['piece', 'piece', 'images'],
  ],
  [
    'MP4 that is still until second 12',
    {
      file: 'still.mp4',
      video: [
        'testsrc2=s=240x240:r=25:d=0.04,loop=loop=299:size=1[still]',
        `${motion('25', '240x240', TWO_PIECES - 12)}[moving]`,
        '[still][moving]concat=n=2,pad=480:480',
      ].join(';'),
      options: OPEN_GOP,
    },
    ['piece', 'piece', 'images'],
  ],
  [
    'MPEG-TS whose audio begins late',
    {
      file: 'late-audio.ts',
      video: motion('25'),
      audio: `anoisesrc=d=${SECONDS}:a=0.1`,
      options: [...H264, '-af', 'aselect=gte(t\\,2)', '-c:a', 'mp2'],
    },
    ['audio', 'piece', 'piece', 'images'],
  ],
  ['interlaced MPEG-TS', SOURCES['MPEG-TS with interlaced MPEG-2'] as Source, ['piece', 'piece', 'images']],
  [
    'Matroska with a variable frame rate',
    SOURCES['Matroska with a variable frame rate'] as Source,
    ['piece', 'piece', 'images'],
  ],
];

describe('a video of pieces equals that of one run', () => {
  test.each(VIDEOS)('%s', async (_, source, kinds) => {
    const path = await makeSource(source);
    const whole = await reference.transcode(path);
    const { video, plan, manifest } = await bench.transcode(path, 9);
    expect(plan.tasks.map(({ kind }) => kind)).toEqual(kinds);
    expect(comparable(manifest)).toEqual(comparable(whole.manifest));
    expect(await hlsViolations(bench, video.videoId, manifest)).toEqual([]);
    const videos = new Map<string, string[]>();
    const others: string[] = [];
    for (const [at, rendition] of manifest.renditions.entries()) {
      const ofWhole = whole.manifest.renditions[at] as typeof rendition;
      const file = await renditionFile(bench, video.videoId, rendition);
      if (rendition.width === null) {
        others.push(file);
        const ofTask = Buffer.concat(await decrypted(bench, video.videoId, rendition));
        const segments = await decrypted(reference, whole.videoId, ofWhole);
        expect(ofTask.equals(Buffer.concat(segments))).toBe(true);
        continue;
      }
      expect(Math.abs(bytesOf(rendition) / bytesOf(ofWhole) - 1)).toBeLessThan(0.04);
      const isEncoded = encodedRenditions(plan.encode).some(({ name }) => name === rendition.name);
      if (isEncoded)
        videos.set(rendition.name, [file, await renditionFile(reference, whole.videoId, ofWhole)]);
      else others.push(file);
    }
    await bench.withSource(video, async (directory) => {
      const { similarities, warnings } = await compareWithWhole(directory, plan.encode, videos, others);
      expect(warnings).toEqual([]);
      expect(similarities.size).toBe(encodedRenditions(plan.encode).length);
      for (const [ofPieces = 0, ofWhole = 1] of similarities.values()) {
        expect(Math.abs(ofPieces - ofWhole)).toBeLessThan(0.0005);
      }
    });
  });
});

describe('a task', () => {
  const OTHER_SETTINGS = { threads: 1, preset: 'ultrafast', iFrames: false };

  test('has the same segments on an engine with other settings', async () => {
    const other = await TaskBench.start(OTHER_SETTINGS);
    try {
      const path = await makeSource(SOURCES['MP4 with open GOPs'] as Source);
      const video = await bench.store(path);
      const plan = await bench.taskPlan(video, 6, false);
      const second = await other.store(path);
      const position = plan.tasks.findLastIndex(({ kind }) => kind === 'piece');
      await bench.runTask({ video, plan, position });
      const { renditions = [] } = await other.runTask({ video: second, plan, position });
      const piece = plan.tasks[position] as PieceTask;
      expect(renditions.map(({ name, first }) => [name, first])).toEqual([
        ['360p', piece.firstSegment],
        ['iframes', piece.firstIFrame],
      ]);
      for (const { name, first, segments } of renditions) {
        const numbers = [...segments.keys()].map((at) => first + at);
        expect(await decrypted(other, second.videoId, { name, segments }, numbers)).toEqual(
          await decrypted(bench, video.videoId, { name, segments }, numbers),
        );
      }
    } finally {
      await other.stop();
    }
  });

  test('stores its objects below the prefix of its try', async () => {
    const video = await bench.store(await makeSource(SOURCES['MP4 with open GOPs'] as Source));
    const plan = await bench.taskPlan(video, 6, false);
    const position = plan.tasks.findLastIndex(({ kind }) => kind === 'piece');
    const { firstSegment } = plan.tasks[position] as PieceTask;
    await bench.runTask({ video, plan, position, tryNumber: 2 });
    const task = taskNumber(position);
    const keys = (await bench.stored(video.videoId)).map((key) => key.split('/').slice(3).join('/'));
    expect(keys).toContain(`a1/t${task}.2/360p/${segmentName(firstSegment, bench.packaging)}`);
    expect(keys.filter((key) => !key.startsWith(`a1/t${task}.2/`))).toEqual([]);
  });

  test('fails if its segments are not those of the plan', async () => {
    const video = await bench.store(await makeSource(SOURCES['MP4 with open GOPs'] as Source));
    const plan = await bench.taskPlan(video, 9, false);
    const position = plan.tasks.findLastIndex(({ kind }) => kind === 'piece');
    const piece = plan.tasks[position] as PieceTask;
    const keyFrames = piece.keyFrames.filter((frame) => frame !== piece.segmentStarts[1]);
    const runWith = (changes: Partial<PieceTask>) =>
      bench.runTask({
        video,
        plan: { ...plan, tasks: plan.tasks.with(position, { ...piece, ...changes }) },
        position,
      });
    await expect(runWith({ keyFrames })).rejects.toThrow('at another time');
    const { iFrames } = piece;
    await expect(runWith({ iFrames: iFrames + 1 })).rejects.toThrow(
      `${iFrames} I-frames, not ${iFrames + 1}`,
    );
  });
});

describe('a video is transcoded as a whole', () => {
  const expectWhole = async (path: string) => {
    const { plan } = await bench.plan(await bench.store(path), 6);
    expect(plan.tasks).toEqual([]);
  };

  test('if it lasts two pieces at most', async () => {
    await expectWhole(
      await makeClip(join(bench.directory, 'short.mp4'), { video: 'testsrc2=s=64x64:r=25:d=12' }),
    );
  });

  test('if ffmpeg cannot begin to read in the middle of its container', async () => {
    await expectWhole(
      await makeClip(join(bench.directory, 'old.avi'), { video: `testsrc2=s=64x64:r=25:d=${SECONDS}` }),
    );
  });

  test('if its timestamps restart', async () => {
    const part = await makeClip(join(bench.directory, 'part.ts'), {
      video: `testsrc2=s=64x64:r=25:d=${SECONDS}`,
    });
    const recording = join(bench.directory, 'recording.ts');
    await writeFile(recording, Buffer.concat([await readFile(part), await readFile(part)]));
    await expectWhole(recording);
  });

  test('if its key frames are too far apart', async () => {
    const options = ['-g', '9999', '-sc_threshold', '0'];
    const video = `testsrc2=s=64x64:r=25:d=${SECONDS}`;
    await expectWhole(await makeClip(join(bench.directory, 'one-key-frame.mp4'), { video, options }));
  });
});
