import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { audioPlan, encodePlan } from '../../tests/support/tracks.ts';
import { planLadder } from '../plan/ladder.ts';
import { imagesArguments } from './images/images-task.ts';
import { audioArguments } from './renditions/audio-task.ts';
import { copyArguments } from './renditions/copy-task.ts';
import { pieceArguments } from './renditions/piece-arguments.ts';
import { wholeArguments } from './whole-run.ts';

const SETTINGS = { preset: 'veryfast', threads: 2 };
const optionValue = (options: readonly string[], name: string) => options[options.indexOf(name) + 1];

/** Seconds 60 to 72.04 of a video at 25 frames a second. */
const PIECE: PieceTask = {
  kind: 'piece',
  firstSegment: 10,
  firstFrame: 1500,
  frames: 301,
  firstIFrame: 30,
  iFrames: 6,
  segmentStarts: [1500, 1650],
  keyFrames: [1500, 1550, 1600, 1650, 1700, 1750],
  seek: 55.9999,
};

function pieceLine(changes: Partial<EncodePlan> = {}, piece: Partial<PieceTask> = {}) {
  const encoder = { preset: 'faster', threads: 3 };
  return pieceArguments(encodePlan(changes), { ...PIECE, ...piece }, { encoder, threads: 2 });
}

describe('the arguments of a piece', () => {
  test('read from the entry point, with the times of the file', () => {
    expect(pieceLine().inputOptions.join(' ')).toMatch(
      /-threads 2 .* -copyts -start_at_zero -ss 55\.999900$/,
    );
    expect(pieceLine({}, { seek: null }).inputOptions.slice(-2)).toEqual(['-copyts', '-start_at_zero']);
  });

  test('leave the start time of the file to the filters, where ffmpeg would subtract that of the video alone', () => {
    const { inputOptions, outputs } = pieceLine({ reading: { startTime: 1.4 }, lead: 0.02 });
    expect(inputOptions.slice(-3)).toEqual(['-copyts', '-ss', '55.999900']);
    expect(outputs[0]?.options.join(' ')).toContain(',setpts=PTS-(1.42)/TB,');
  });

  test('leave out what is before the first key frame, by the times of the file', () => {
    const { outputs } = pieceLine({ reading: { startTime: 1.4, firstPicture: 0.4 } });
    expect(outputs[0]?.options.join(' ')).toContain(']trim=start=1.8,scale=');
  });

  test('encode its frames, with the settings of the plan', () => {
    const { outputs } = pieceLine();
    expect(outputs.map(({ path }) => path)).toEqual(['output/360p-%d.ts', 'output/480p-%d.ts']);
    const [first, second] = outputs.map(({ options }) => options);
    const graph = optionValue(first ?? [], '-filter_complex');
    expect(graph).toMatch(
      /^\[0:1\]scale=854:480:interl=-1,fps=25\/1:start_time=59,tpad=stop_mode=clone:stop=-1,trim=start_frame=25:end_frame=326,/,
    );
    expect(graph).toMatch(/split=2\[480p\]\[to-360p\];\[to-360p\][^;]*null\[360p\]$/);
    expect(optionValue(first ?? [], '-filter_complex_threads')).toBe('3');
    expect(second).not.toContain('-filter_complex');
    for (const options of [first ?? [], second ?? []]) {
      expect(optionValue(options, '-preset:v')).toBe('faster');
      expect(optionValue(options, '-threads:v')).toBe('3');
      expect(optionValue(options, '-force_key_frames:v')).toBe(
        '60.000000,62.000000,64.000000,66.000000,68.000000,70.000000',
      );
    }
  });

  test.each([
    [{ numerator: 24_000, denominator: 1001 }, 1007, '42.000291'],
    [{ numerator: 60_000, denominator: 1001 }, 4076, '68.001266'],
    [{ numerator: 25, denominator: 1 }, 1501, '60.040000'],
  ])('force key frames at times that are not after the frames: %j, frame %d', (frameRate, frame, time) => {
    const { outputs } = pieceLine({ frameRate }, { keyFrames: [frame] });
    expect(optionValue(outputs[0]?.options ?? [], '-force_key_frames:v')).toBe(time);
    const { numerator, denominator } = frameRate;
    expect(Number(time) * numerator).toBeLessThanOrEqual(frame * denominator);
  });

  test('cut segments by frame numbers, and number the segments as in the video', () => {
    const videoRenditions = planLadder({ width: 1280, height: 720 }, 50);
    const { outputs } = pieceLine({ videoRenditions, frameRate: { numerator: 50, denominator: 1 } });
    expect(outputs.map(({ options }) => optionValue(options, '-segment_frames'))).toEqual([
      '75,151',
      '75,151',
      '150,301',
    ]);
    for (const { options } of outputs) {
      expect(optionValue(options, '-segment_start_number')).toBe('10');
      expect(optionValue(options, '-individual_header_trailer')).toBe('0');
      expect(optionValue(options, '-output_ts_offset')).toBe('10');
    }
  });

  test('write transport stream segments without metadata', () => {
    const [, second] = pieceLine().outputs;
    const options = second?.options.join(' ');
    expect(options).toMatch(/^-map \[480p\] -map_metadata -1 -map_chapters -1 -c:v libx264 /);
    expect(options).toContain(
      ' -f segment -segment_format mpegts -segment_format_options pat_period=1000000:sdt_period=1000000 ',
    );
  });

  test.each([
    [{ numerator: 30_000, denominator: 1001 }, 1000, 'start_time=0,', 'start_frame=1000:end_frame=1301'],
    [{ numerator: 30_000, denominator: 1001 }, 31_000, 'start_time=1001,', 'start_frame=1000:end_frame=1301'],
    [{ numerator: 30, denominator: 1 }, 45, 'start_time=0,', 'start_frame=45:end_frame=346'],
    [{ numerator: 25, denominator: 2 }, 500, 'start_time=38,', 'start_frame=25:end_frame=326'],
    [{ numerator: 50, denominator: 4 }, 500, 'start_time=38,', 'start_frame=25:end_frame=326'],
  ])('start at a whole second that has a frame: %j, frame %d', (frameRate, firstFrame, start, trim) => {
    const { outputs } = pieceLine({ frameRate }, { firstFrame });
    const graph = optionValue(outputs[0]?.options ?? [], '-filter_complex');
    expect(graph).toContain(start);
    expect(graph).toContain(`,trim=${trim},`);
  });
});

test('the copy and the audio are runs of their own', () => {
  const videoRenditions = planLadder({ width: 1280, height: 720 }, 25);
  const plan = encodePlan({ videoRenditions, copiesVideo: true, audio: [audioPlan()] });
  const [video] = copyArguments(plan, SETTINGS).outputs;
  expect(video?.options.join(' ')).toMatch(
    / -map 0:1 .*-c:v copy .*-hls_segment_filename output\/720p-%d\.ts$/,
  );
  expect(video?.options).not.toContain('-filter_complex');
  const [audio] = audioArguments(plan, SETTINGS).outputs;
  expect(audio?.options.join(' ')).toMatch(
    / -map \[audio\] .*-c:a aac .*-hls_segment_filename output\/audio-%d\.ts$/,
  );
  expect(audio?.options).not.toContain('0:1');
  expect(optionValue(audio?.options ?? [], '-filter_complex')).toMatch(/^\[0:\d\].*\[audio\]$/);
  for (const { name, inputOptions, outputs } of [
    { name: '720p', ...copyArguments(plan, { ...SETTINGS, threads: 64 }) },
    { name: 'audio', ...audioArguments(plan, { ...SETTINGS, threads: 64 }) },
  ]) {
    expect(outputs.map(({ path }) => path)).toEqual([`output/${name}.m3u8`]);
    expect(optionValue(inputOptions, '-threads')).toBe('16');
    expect(optionValue(outputs[0]?.options ?? [], '-filter_complex_threads')).toBe('16');
  }
});

test('each run looks for the tracks that it uses', () => {
  const analysisOf = (seconds: number) => ({ seconds, bytes: 1_000_000 * seconds });
  const reading = { analysis: { video: analysisOf(10), audio: analysisOf(30), text: analysisOf(50) } };
  const plan = encodePlan({ reading, copiesVideo: true });
  const seconds = [
    audioArguments(plan, SETTINGS),
    copyArguments(plan, SETTINGS),
    imagesArguments(plan, { keyFramesOnly: true }, SETTINGS),
    pieceLine({ reading }),
  ].map(({ inputOptions }) => Number(optionValue(inputOptions, '-analyzeduration')) / 1_000_000);
  expect(seconds).toEqual([30, 10, 10, 10]);
});

test('images are made from key frames or from all frames', () => {
  const { inputOptions, outputs } = imagesArguments(encodePlan(), { keyFramesOnly: true }, SETTINGS);
  expect(inputOptions.join(' ')).toMatch(/ -skip_frame nokey$/);
  expect(outputs.map(({ path }) => path)).toEqual(['-', 'output/poster.jpg', 'output/storyboard.jpg']);
  expect(optionValue(outputs[0]?.options ?? [], '-filter_complex')).toMatch(
    /\[to-storyboard\]fps=1\/1:start_time=0:round=near:eof_action=pass,tpad=stop_mode=clone:stop=-1,trim=end_frame=2,scale=160:90,/,
  );
  const { inputOptions: all } = imagesArguments(encodePlan(), { keyFramesOnly: false }, SETTINGS);
  expect(all).toEqual(inputOptions.slice(0, -2));
  expect(outputs[0]?.options.slice(4)).toEqual(['-map', '[frames]', '-f', 'null']);
});

test('images are made from the highest rendition below 1080p', () => {
  const graphOf = (width: number, height: number) => {
    const plan = encodePlan({
      videoRenditions: planLadder({ width, height }, 25),
      coded: { width, height },
      audio: [],
    });
    const { outputs } = imagesArguments(plan, { keyFramesOnly: true }, { threads: 64 });
    expect(optionValue(outputs[0]?.options ?? [], '-filter_complex_threads')).toBe('16');
    return optionValue(outputs[0]?.options ?? [], '-filter_complex');
  };
  expect(graphOf(1920, 1080)).toMatch(
    /^\[0:1\]scale=1920:1080:interl=-1,trim=start=-0.001:end=1.999,scale=1280:720:[^;]*:color_trc=bt709,split=3\[frames\]\[to-poster\]\[to-storyboard\];\[/,
  );
  expect(graphOf(640, 360)).toMatch(/^\[0:1\]scale=640:360:interl=-1,trim=[^,]+,scale=640:360:/);
});

test('audio and images leave the start time of the file to the filters, where ffmpeg would subtract that of their tracks', () => {
  const plan = encodePlan({ reading: { startTime: 1.4 }, lead: 0.02 });
  const audio = audioArguments(plan, SETTINGS);
  expect(audio.inputOptions).toContain('-copyts');
  expect(audio.outputs[0]?.options.join(' ')).toContain(']asetpts=PTS-(1.42)/TB,');
  const images = imagesArguments(plan, { keyFramesOnly: true }, SETTINGS);
  expect(images.inputOptions).toContain('-copyts');
  expect(images.outputs[0]?.options.join(' ')).toContain(',setpts=PTS-(1.42)/TB,');
});

describe('a trimmed video', () => {
  const trimmed = (changes: Partial<EncodePlan> = {}) =>
    encodePlan({ firstFrame: 1500, lead: 60.02, reading: { seek: 55.9 }, ...changes });

  test('is read from before its part, in one run and in tasks', () => {
    const whole = wholeArguments(trimmed(), SETTINGS);
    const lines = [
      whole,
      audioArguments(trimmed(), SETTINGS),
      imagesArguments(trimmed(), { keyFramesOnly: false }, SETTINGS),
    ];
    for (const { inputOptions } of lines)
      expect(inputOptions.join(' ')).toMatch(/ -copyts -start_at_zero -ss 55\.900000$/);
    const graph = optionValue(whole.outputs[0]?.options ?? [], '-filter_complex');
    expect(graph).toContain(
      ',setpts=PTS-(0.02)/TB,fps=25/1:start_time=59,tpad=stop_mode=clone:stop=-1,trim=start_frame=25:end_frame=75,setpts=PTS-1500,',
    );
    expect(graph).toContain(']asetpts=PTS-(60.02)/TB,atrim=start=0,aresample=');
    const images = lines.at(-1)?.outputs[0]?.options.join(' ');
    expect(images).toContain(',setpts=PTS-(60.02)/TB,trim=start=-0.001:end=1.999,');
  });

  test('has its frame rate from the plan: filters that move times may forget it', () => {
    const half = encodePlan().videoRenditions.map(
      (each, at) => ({ ...each, frameStep: at === 0 ? 2 : 1 }) as const,
    );
    const rates = (plan: EncodePlan) =>
      wholeArguments(plan, SETTINGS)
        .outputs.slice(0, 2)
        .map(({ options }) => (options.includes('-r:v') ? optionValue(options, '-r:v') : null));
    expect(rates(trimmed({ videoRenditions: half }))).toEqual(['25/2', '25/1']);
    expect(rates(encodePlan())).toEqual([null, null]);
    expect(pieceLine({ firstFrame: 100 }).outputs[0]?.options.join(' ')).toContain(' -r:v 25/1 ');
  });

  test('in a transport stream keeps the times of the file', () => {
    const { inputOptions, outputs } = wholeArguments(
      trimmed({ reading: { seek: 55.9, startTime: 1.4 } }),
      SETTINGS,
    );
    expect(inputOptions.join(' ')).toMatch(/ -copyts -ss 55\.900000$/);
    expect(inputOptions).not.toContain('-start_at_zero');
    const graph = optionValue(outputs[0]?.options ?? [], '-filter_complex');
    expect(graph).toContain(',setpts=PTS-(1.42)/TB,fps=');
    expect(graph).toContain(']asetpts=PTS-(61.42)/TB,');
  });

  test('of slides repeats the picture that is shown from before its part', () => {
    const { outputs } = wholeArguments(trimmed({ sourceRate: 0.2 }), SETTINGS);
    expect(optionValue(outputs[0]?.options ?? [], '-filter_complex')).toContain(
      ',fps=25/1:start_time=0,tpad=stop_mode=clone:stop=-1,trim=start_frame=1500:end_frame=1550,setpts=PTS-1500,',
    );
  });

  test('has silence where a track has no sound', () => {
    const plan = trimmed({ audio: [audioPlan({ silent: true, channels: 6 })] });
    const { outputs } = audioArguments(plan, SETTINGS);
    expect(optionValue(outputs[0]?.options ?? [], '-filter_complex')).toBe(
      'anullsrc=channel_layout=5.1:sample_rate=48000,atrim=end_sample=95232[audio]',
    );
  });
});
