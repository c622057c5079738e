import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { greyFrames, samples } from '../support/media.ts';
import { firstSigns, renditionFile } from '../support/rendition-file.ts';
import { withTeletext } from '../support/teletext.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const transcode = (path: string) => transcodeByTheRules(bench, path);

const SMALL = 'testsrc2=s=160x120';

test('a variable frame rate on a common grid loses no frame', async () => {
  const grey = String.raw`geq=lum=30+mod(N*37\,180):cb=128:cr=128`;
  const clip = await makeClip(inBench('grid.mp4'), {
    video: String.raw`color=s=64x64:r=60:d=8,format=yuv420p,${grey},select=lt(mod(n\,24)\,13)`,
    options: ['-vsync', 'vfr'],
  });
  const { videoId, manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ rate: 60, issues: ['frame_rate_changed'] });
  const shown = await greyFrames(await renditionFile(bench, videoId, manifest.renditions[0]), 64, 64);
  const changes = shown.filter(([level = 0], at) => Math.abs(level - (shown[at - 1]?.[0] ?? 255)) > 10);
  expect(changes).toHaveLength(260);
});

test('film in 3:2 pulldown loses no frame where its cadence breaks', async () => {
  const grey = String.raw`geq=lum=30+mod(N*37\,180):cb=128:cr=128`;
  const times = String.raw`settb=1001/60000,setpts=floor(N/2)*5+mod(N\,2)*2-gte(N\,120)`;
  const clip = await makeClip(inBench('pulldown.mkv'), {
    video: `color=s=64x64:r=24:d=10,format=yuv420p,${grey},${times}`,
    options: ['-vsync', 'passthrough', '-enc_time_base', '1001/60000'],
  });
  const { videoId, manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ rate: 23.976, frames: 239, issues: [] });
  const shown = await greyFrames(await renditionFile(bench, videoId, manifest.renditions[0]), 64, 64);
  const changes = shown.filter(([level = 0], at) => Math.abs(level - (shown[at - 1]?.[0] ?? 255)) > 10);
  // The last frame has no duration of its own.
  expect(changes).toHaveLength(239);
});

test('a second track that cannot be decoded is left out and named', async () => {
  const maps = ['-map', '0', '-map', '1', '-map', '1', '-metadata:s:a:1', 'language=fre'];
  const clip = await makeClip(inBench('second-tta.mkv'), {
    video: `${SMALL}:r=25:d=1`,
    audio: 'sine=d=1',
    options: [...maps, '-c:a:0', 'aac', '-c:a:1', 'tta'],
  });
  const { manifest } = await transcode(clip);
  expect(manifest.source).toMatchObject({ audioCodec: 'aac' });
  expect(manifest.inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 3 (audio, tta, fr) was left out.' },
  ]);
});

test('a track that can be decoded is preferred to a default track that cannot', async () => {
  const clip = await makeClip(inBench('default.mkv'), {
    video: `${SMALL}:r=25:d=1`,
    audio: 'sine=d=1',
    options: ['-map', '0', '-map', '1', '-map', '1', '-c:a:0', 'tta', '-c:a:1', 'ac3'],
  });
  const { manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ audio: true, issues: ['track_left_out'] });
  expect(manifest.source).toMatchObject({ audioCodec: 'ac3' });
});

test('closed captions of QuickTime are left out, with an issue', async () => {
  await writeFile(inBench('one.srt'), '1\n00:00:00,000 --> 00:00:00,500\nHello\n');
  const video = await makeClip(inBench('uncaptioned.mov'), { video: `${SMALL}:r=25:d=1` });
  await ffmpeg(
    '-i',
    video,
    '-i',
    inBench('one.srt'),
    '-c:v',
    'copy',
    '-c:s',
    'mov_text',
    inBench('text.mov'),
  );
  const file = await readFile(inBench('text.mov'));
  file.write('mhlrclcp', file.indexOf('mhlrtext'), 'latin1');
  // The last box is the sample entry.
  file.write('c608', file.lastIndexOf('text'), 'latin1');
  await writeFile(inBench('captions.mov'), file);
  const { manifest } = await transcode(inBench('captions.mov'));
  expect(manifest.inputIssues).toEqual([
    {
      code: 'track_left_out',
      message: expect.stringMatching(/^Track 2 \(subtitles, eia_608.*\) was left out\.$/),
    },
  ]);
});

test('teletext is left out, with an issue', async () => {
  const maps = ['-map', '0', '-map', '1', '-map', '1', '-metadata:s:a:1', 'language=ger'];
  const clip = await makeClip(inBench('television.ts'), {
    video: `${SMALL}:r=25:d=1`,
    audio: 'sine=d=1',
    options: [...maps, '-c:a:0', 'mp2', '-c:a:1', 'ac3'],
  });
  await writeFile(inBench('teletext.ts'), withTeletext(await readFile(clip)));
  const { manifest } = await transcode(inBench('teletext.ts'));
  expect(manifest.source).toMatchObject({ audioCodec: 'mp2' });
  expect(manifest.inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 3 (subtitles, dvb_teletext, de) was left out.' },
  ]);
});

/** Broadcasts change between surround and stereo from one program to the next. */
test.each([
  ['ac3', 'surround to stereo', ['5.1', 'stereo']],
  ['eac3', 'stereo to surround', ['stereo', '5.1']],
])('audio in %s that changes from %s is audible throughout', async (codec, change, layouts) => {
  const parts: Buffer[] = [];
  for (const layout of layouts) {
    const tones = layout === '5.1' ? '0.3*sin(6283*t)|0|0|0|0|0' : '0.3*sin(6283*t)|0';
    const part = inBench(`${layout}.${codec}`);
    await ffmpeg('-f', 'lavfi', '-i', `aevalsrc=${tones}:c=${layout}:s=48000:d=2`, '-c:a', codec, part);
    parts.push(await readFile(part));
  }
  const audio = inBench(`change.${codec}`);
  await writeFile(audio, Buffer.concat(parts));
  const video = await makeClip(inBench('video.mp4'), { video: `${SMALL}:r=25:d=4` });
  const clip = inBench(`${codec}-${change.replaceAll(' ', '-')}.ts`);
  await ffmpeg('-i', video, '-i', audio, '-map', '0', '-map', '1', '-c', 'copy', clip);
  const { videoId, manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ frames: 100, audio: true });
  const heard = await samples(await renditionFile(bench, videoId, manifest.renditions.at(-1)));
  for (const second of [0.5, 1.5, 2.5, 3.5]) {
    const left = heard
      .subarray(2 * 48_000 * second, 2 * 48_000 * (second + 0.1))
      .filter((_, at) => at % 2 === 0);
    expect(Math.max(...left)).toBeGreaterThan(0.1);
  }
});

test('a second track without a frame that can be decoded is left out', async () => {
  const clip = await makeClip(inBench('sound.mkv'), {
    video: `${SMALL}:r=25:d=4`,
    audio: 'sine=d=4',
    options: ['-map', '0', '-map', '1', '-map', '1', '-c:a', 'ac3'],
  });
  const noise = ['-bsf:a:1', 'noise=amount=1', inBench('noise.mkv')];
  await ffmpeg('-i', clip, '-map', '0', '-c', 'copy', ...noise);
  const { manifest } = await transcode(inBench('noise.mkv'));
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', 'audio']);
  expect(manifest.inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 3 (audio, ac3) was left out.' },
  ]);
});

test('a second track that changes its format is left out', async () => {
  const parts: Buffer[] = [];
  for (const rate of [48_000, 32_000]) {
    const part = inBench(`${rate}.mp2`);
    await ffmpeg('-f', 'lavfi', '-i', `sine=r=${rate}:d=2`, '-ac', '2', '-c:a', 'mp2', part);
    parts.push(await readFile(part));
  }
  await writeFile(inBench('change.mp2'), Buffer.concat(parts));
  const video = await makeClip(inBench('with-audio.mp4'), { video: `${SMALL}:r=25:d=4`, audio: 'sine=d=4' });
  const clip = inBench('second-changes.ts');
  await ffmpeg('-i', video, '-i', inBench('change.mp2'), '-map', '0', '-map', '1', '-c', 'copy', clip);
  const { manifest } = await transcode(clip);
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', 'audio']);
  expect(manifest.inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 3 (audio, mp2) was left out.' },
  ]);
});

test('more than an hour of nearly static video is transcoded', async () => {
  const clip = await makeClip(inBench('long.mp4'), { video: 'color=s=16x16:r=1:d=3700' });
  const { outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ renditions: ['360p 16x16'], rate: 10, frames: 37_000 });
});

test('of several tracks, the default video track is chosen, and the default audio track is the first', async () => {
  const tracks = [
    `${SMALL}:r=25:d=2`,
    'testsrc2=s=64x64:r=25:d=2',
    'sine=d=2',
    'sine=f=880:d=2',
    'sine=f=220:d=2',
  ];
  await writeFile(inBench('words.srt'), '1\n00:00:00,000 --> 00:00:01,500\nHello\n');
  await ffmpeg(
    ...tracks.flatMap((track) => ['-f', 'lavfi', '-i', track]),
    ...['-i', inBench('words.srt'), '-attach', inBench('words.srt'), '-metadata:s:t', 'mimetype=text/plain'],
    ...['-map', '1:v', '-map', '0:v', '-map', '2:a', '-map', '3:a', '-map', '4:a', '-map', '5:s'],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-c:a',
      'flac',
      '-disposition:0',
      '0',
      '-disposition:1',
      'default',
    ],
    ...['-disposition:a', '0', '-disposition:a:1', 'default', '-metadata:s:a:0', 'language=eng'],
    ...['-metadata:s:a:1', 'language=ger', inBench('tracks.mkv')],
  );
  const { manifest, outcome } = await transcode(inBench('tracks.mkv'));
  expect(outcome).toMatchObject({ renditions: ['360p 160x120'], frames: 50, audio: true });
  expect(manifest.renditions.slice(1)).toMatchObject([
    { name: 'audio', language: 'de' },
    { name: 'audio2', language: 'en' },
    { name: 'audio3', language: null },
  ]);
});

test.each(['cover.mp4', 'cover.mkv'])('a cover image in %s is not the video', async (file) => {
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=640x640', '-frames:v', '1', inBench('cover.png'));
  const clip = await makeClip(inBench(`plain-${file}`), { video: `${SMALL}:r=25:d=1` });
  const cover = file.endsWith('mkv')
    ? ['-attach', inBench('cover.png'), '-metadata:s:t', 'mimetype=image/png', '-map', '0']
    : ['-i', inBench('cover.png'), '-map', '1', '-map', '0', '-disposition:v:0', 'attached_pic'];
  await ffmpeg('-i', clip, ...cover, '-c', 'copy', inBench(file));
  const { outcome } = await transcode(inBench(file));
  expect(outcome).toMatchObject({ renditions: ['360p 160x120'], frames: 25 });
});

test('video that an edit list delays begins late', async () => {
  const clip = await makeClip(inBench('in-time.mp4'), { video: `${SMALL}:r=25:d=2`, audio: 'sine=d=4' });
  await ffmpeg(
    '-itsoffset',
    '1.01',
    '-i',
    clip,
    '-i',
    clip,
    '-map',
    '0:v',
    '-map',
    '1:a',
    '-c',
    'copy',
    inBench('late.mp4'),
  );
  const { outcome } = await transcode(inBench('late.mp4'));
  expect(outcome).toMatchObject({ frames: 75, audio: true, issues: [] });
});

/** A clip whose video gets bright and whose audio begins after some seconds. */
const flash = (seconds: number): Clip => ({
  video: `color=black:s=160x120:r=25:d=3,drawbox=color=white:t=fill:enable=gte(t\\,${seconds})`,
  audio: `aevalsrc=gte(t\\,${seconds})*sin(2000*t):s=48000:d=3`,
});

/** Transcodes a file, and expects its video to get bright and its audio to begin after some seconds. */
async function expectFlash(
  path: string,
  seconds: number,
  frames: number,
  issues: string[] = [],
): Promise<void> {
  const { videoId, manifest, outcome } = await transcode(path);
  expect(outcome).toMatchObject({ frames, audio: true, issues });
  const { light, audio } = await firstSigns(bench, videoId, manifest);
  expect(Math.abs(light - seconds)).toBeLessThan(0.03);
  expect(Math.abs(audio - light)).toBeLessThan(0.03);
}

test.each([
  ['MP4', 'flash.mp4', ['-c:a', 'aac']],
  ['FLV', 'flash.flv', ['-c:a', 'aac']],
  ['transport stream whose clock wraps', 'wraps.ts', ['-c:a', 'aac', '-output_ts_offset', '95441.8']],
  ['transport stream with late timestamps', 'late.ts', ['-c:a', 'aac', '-output_ts_offset', '50000']],
  ['Matroska', 'flash.mkv', ['-c:a', 'libopus']],
  ['Matroska with late timestamps', 'late.mkv', ['-c:a', 'libopus', '-output_ts_offset', '100']],
  ['MP4 with a delaying edit list', 'late.mp4', ['-c:a', 'aac', '-output_ts_offset', '100']],
])('audio and video of a %s stay in sync', async (_, file, options) => {
  await expectFlash(await makeClip(inBench(file), { ...flash(1), options }), 1, 75);
});

test('audio and video of fragments with late timestamps stay in sync', async () => {
  const movFlags = ['-movflags', '+frag_keyframe+delay_moov+default_base_moof'];
  const options = ['-c:a', 'ac3', '-video_track_timescale', '48000', ...movFlags];
  const clip = await makeClip(inBench('fragments-in-time.mp4'), { ...flash(1), options });
  const file = await readFile(clip);
  for (let at = file.indexOf('tfdt'); at !== -1; at = file.indexOf('tfdt', at + 4)) {
    file.writeBigUInt64BE(file.readBigUInt64BE(at + 8) + 100n * 48_000n, at + 8);
  }
  await writeFile(inBench('late-fragments.mp4'), file);
  await expectFlash(inBench('late-fragments.mp4'), 1, 75);
});

test('an edit list may begin between two key frames', async () => {
  const options = ['-c:a', 'aac', '-bf', '2', '-g', '100'];
  const whole = await makeClip(inBench('flash-whole.mp4'), { ...flash(1.6), options });
  await ffmpeg('-ss', '0.6', '-i', whole, '-c', 'copy', inBench('flash-cut.mp4'));
  await expectFlash(inBench('flash-cut.mp4'), 1, 60);
});

test.each([
  ['a transport stream', 'part.ts', ['-c:a', 'aac']],
  ['an Ogg file', 'part.ogv', ['-c:v', 'libtheora', '-c:a', 'libvorbis']],
])('timestamps of %s that restart are corrected', async (_, file, options) => {
  const clip = await makeClip(inBench(file), { video: `${SMALL}:r=25:d=5`, audio: 'sine=d=5', options });
  const part = await readFile(clip);
  await writeFile(inBench(`twice-${file}`), Buffer.concat([part, part]));
  const { manifest } = await transcode(inBench(`twice-${file}`));
  expect(Math.abs(manifest.duration - 10)).toBeLessThan(0.15);
});

/** The flash of `flash` is in the second part, one second after the end of the first part. */
test.each([
  ['a transport stream jump ahead', 'ahead.ts', ['-c:a', 'aac'], ['-output_ts_offset', '500']],
  ['a transport stream jump back', 'back.ts', ['-c:a', 'aac'], []],
])('audio and video stay in sync where all timestamps of %s', async (_, file, options, ofSecond) => {
  const dark = { video: 'color=black:s=160x120:r=25:d=3', audio: 'anullsrc=r=48000:cl=mono,atrim=end=3.2' };
  const before = await makeClip(inBench(`first-${file}`), { ...dark, options });
  const after = await makeClip(inBench(`second-${file}`), {
    ...flash(1),
    options: [...options, ...ofSecond],
  });
  await writeFile(inBench(file), Buffer.concat([await readFile(before), await readFile(after)]));
  const { videoId, manifest, outcome } = await transcode(inBench(file));
  expect(outcome.issues).not.toContain('truncated');
  const { light, audio } = await firstSigns(bench, videoId, manifest);
  expect(light).toBeGreaterThan(3.9);
  expect(light).toBeLessThan(4.3);
  expect(Math.abs(audio - light)).toBeLessThan(0.03);
});

/** ffmpeg delivers the last packet of each track at the end of the file. */
test.each([
  ['other PIDs', ['-c:a', 'aac', '-streamid', '0:768', '-streamid', '1:769']],
  ['no video', ['-c:a', 'aac', '-vn', '-streamid', '0:257']],
])(
  'a transport stream whose clock restarts with %s has no still picture after its video',
  async (name, options) => {
    const clip = { video: 'testsrc2=s=64x64:r=25:d=12', audio: 'sine=d=12' };
    const before = await makeClip(inBench(`before-${name}.ts`), { ...clip, options: ['-c:a', 'aac'] });
    const after = await makeClip(inBench(`after-${name}.ts`), { ...clip, options });
    await writeFile(inBench(`${name}.ts`), Buffer.concat([await readFile(before), await readFile(after)]));
    const { manifest } = await transcode(inBench(`${name}.ts`));
    expect(Math.abs(manifest.duration - 12)).toBeLessThan(0.15);
  },
);

/** The clocks are further apart than the longest duration of a video. */
test.each([
  ['with other PIDs soon follows', 3, ['-c:a', 'aac'], ['-streamid', '0:768', '-streamid', '1:769'], 3],
  ['follows a silent part', 9, ['-an'], [], 17],
])(
  'a transport stream is as long as its video where another clock %s',
  async (name, seconds, first, others, expected) => {
    const make = (file: string, duration: number, options: string[]) =>
      makeClip(inBench(`${name}-${file}.ts`), {
        video: `testsrc2=s=64x64:r=25:d=${duration}`,
        audio: `sine=d=${duration}`,
        options,
      });
    const before = await make('before', seconds, [...first, '-output_ts_offset', '50000']);
    const after = await make('after', 8, ['-c:a', 'aac', ...others]);
    await writeFile(inBench('clocks.ts'), Buffer.concat([await readFile(before), await readFile(after)]));
    const { outcome } = await transcode(inBench('clocks.ts'));
    expect(outcome).toMatchObject({ frames: 25 * expected, audio: true });
  },
);

/** Seconds that are left out of a track. */
const PAUSE = String.raw`not(between(t\,2\,13.99))`;

test.each([
  ['video', `,select=${PAUSE}`, '', ['frame_rate_changed']],
  ['audio', '', `,aselect=${PAUSE}`, []],
])(
  'the %s of a transport stream may pause while the other track goes on',
  async (name, video, audio, issues) => {
    const dark = String.raw`color=black:s=160x120:r=25:d=17,drawbox=color=white:t=fill:enable=gte(t\,15)`;
    const clip = await makeClip(inBench(`${name}-pauses.ts`), {
      video: dark + video,
      audio: String.raw`aevalsrc=gte(t\,15)*sin(2000*t):s=48000:d=17` + audio,
      options: ['-vsync', 'vfr', '-c:a', 'mp2'],
    });
    await expectFlash(clip, 15, 425, issues);
  },
);

test('tracks of a transport stream may begin late', async () => {
  const late = String.raw`select=gte(t\,9)`;
  const clip = await makeClip(inBench('late-tracks.ts'), {
    video: `${SMALL}:r=25:d=12`,
    audio: 'sine=d=12',
    options: [
      ...['-map', '0', '-map', '1', '-map', '1', '-vf', late, '-vsync', 'vfr', '-filter:a:1', `a${late}`],
      ...['-c:a', 'mp2'],
    ],
  });
  const { manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ renditions: ['360p 160x120'], rate: 25, frames: 300, issues: [] });
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', 'audio', 'audio2']);
});

test('frames that change their size are scaled to the first size', async () => {
  const sizes = ['320x240', '240x320', '640x480'];
  const options = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '16'];
  const files = sizes.map((size) => `size-${size}.webm`);
  for (const [at, size] of sizes.entries()) {
    await makeClip(inBench(files[at] ?? ''), { video: `testsrc2=s=${size}:r=25:d=2`, options });
  }
  await writeFile(inBench('sizes.txt'), files.map((file) => `file ${file}`).join('\n'));
  await ffmpeg('-f', 'concat', '-i', inBench('sizes.txt'), '-c', 'copy', inBench('sizes.webm'));
  const { outcome } = await transcode(inBench('sizes.webm'));
  expect(outcome).toMatchObject({ renditions: ['360p 320x240'], frames: 150 });
});

test.each([
  ['cut.mp4', ['-movflags', '+faststart', '-c:a', 'aac']],
  ['cut.mkv', ['-c:a', 'aac']],
  ['cut.flv', ['-c:a', 'aac']],
  ['cut.avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame']],
])('%s is truncated: its content is transcoded, with an issue', async (file, options) => {
  const clip = await makeClip(inBench(file), { video: `${SMALL}:r=25:d=10`, audio: 'sine=d=12', options });
  await truncate(clip, Math.round((await stat(clip)).size / 2));
  const { manifest, outcome } = await transcode(clip);
  expect(manifest.duration).toBeLessThan(8);
  expect(outcome.issues).toEqual(['truncated']);
});

/** Half of a file, and something in the place of the rest that ffmpeg cannot read. */
async function unreadableRest(file: string, options: string[]): Promise<Buffer> {
  const clip = { video: 'testsrc2=s=320x240:r=25:d=16', options };
  const content = await readFile(await makeClip(inBench(file), clip));
  // Larger than the parts of a file in which ffmpeg looks for the next packet.
  const hole = [0.5, 0.8].map((part) => Math.round(part * content.length));
  return content.fill(0, ...hole);
}

async function chained(file: string, options: string[]): Promise<Buffer> {
  const links = [25, 24].map((rate) =>
    makeClip(inBench(`${rate}-${file}`), { video: `${SMALL}:r=${rate}:d=8`, audio: 'sine=d=8', options }),
  );
  return Buffer.concat(await Promise.all(links.map(async (link) => readFile(await link))));
}

const THEORA = ['-c:v', 'libtheora', '-q:v', '10'];

test.each([
  ['a transport stream', 'hole.ts', unreadableRest, []],
  ['a fragmented MP4', 'hole.mp4', unreadableRest, ['-movflags', '+frag_keyframe+empty_moov', '-g', '25']],
  ['an Ogg file', 'hole.ogv', unreadableRest, THEORA],
  ['chained Ogg with audio', 'chained.ogv', chained, THEORA],
])(
  'where %s cannot be read any further, its content is transcoded, with an issue',
  async (_, file, make, options) => {
    await writeFile(inBench(file), await make(file, options));
    const { manifest, outcome } = await transcode(inBench(file));
    expect(manifest.duration).toBeGreaterThan(7);
    expect(manifest.duration).toBeLessThan(9);
    expect(outcome.issues).toEqual(['truncated']);
  },
);
