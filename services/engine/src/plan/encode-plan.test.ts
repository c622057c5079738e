import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import type { FrameLoss } from '../source/frame-losses.ts';
import type { FrameRate } from '../source/frame-rate.ts';
import type { Gop, GopFlaw } from '../source/gop-scan.ts';
import type { VideoTrack } from '../source/media-source.ts';
import { BT709 } from './colour.ts';
import { copiedCodec, copiedRenditions, iFrameSource, planEncoding } from './encode-plan.ts';
import type { PlanSettings } from './explained-plan.ts';
import { planLadder } from './ladder.ts';

type Packets = {
  gops?: Gop[] | GopFlaw;
  frames?: number;
  start?: number;
  /** Seconds that an edit list cuts from the start. */
  cut?: number;
  end?: number;
  declared?: number;
  container?: string;
  grid?: FrameRate;
  rate?: number;
  losses?: FrameLoss[];
  /** Pictures a second. */
  changes?: number | Map<number, number>;
};

const plan = (
  duration: number,
  video: Partial<VideoTrack> = {},
  channels = 2,
  {
    gops = 'irregular',
    frames = 0,
    start = 0,
    cut = 0,
    end = duration,
    declared,
    container = 'mp4',
    grid,
    rate = 25,
    losses = [],
    changes = 2,
  }: Packets = {},
  allowCopy = true,
  settings: Partial<PlanSettings> = {},
) => {
  const audioFrames = frames > 0 ? { start: -1024 / 48_000, frames, bytes: frames * 300 } : null;
  return planEncoding(
    {
      container,
      reading: {},
      video: videoTrack(video),
      leftOut: [],
      chapters: [],
      audio: channels === 0 ? [] : [{ ...audioTrack({ channels }), start: 0, end, frames: audioFrames }],
      timeline: {
        cut,
        frames: duration * rate,
        start,
        duration,
        averageRate: rate,
        grid: grid ?? null,
        losses,
      },
      end,
      unread: 0,
      declaredDuration: declared ?? null,
      changes:
        typeof changes === 'number'
          ? new Map(Array.from({ length: 60 }, (_, second) => [second, changes]))
          : changes,
      gops,
      entryPoints: null,
      audioAhead: 0,
      keyFramesNeedOthers: false,
      layout: null,
    },
    { allowCopy, ...settings },
  );
};

describe('an encode plan', () => {
  test.each([0.1, 1, 6, 23.96, 24, 30, 3600.04])(
    'ends the audio of a video of %s s with the video',
    (duration) => {
      const { frames, audio, duration: seconds } = plan(duration);
      expect(frames).toBe(Math.round(duration * 25));
      const method = audio[0]?.method;
      const samples = method && 'samples' in method ? method.samples : Number.NaN;
      // Whole AAC frames after the one the encoder adds at the start. The last one starts before the video ends.
      expect(samples % 1024).toBe(0);
      expect(samples).toBeLessThan(seconds * 48_000);
      expect(samples).toBeGreaterThanOrEqual(seconds * 48_000 - 1024);
    },
  );

  test.each([
    ['at zero', 0, 0, 250],
    ['after the delay of the audio encoder', 0.023, 0.023, 249],
    ['after half a second', 0.51, -0.01, 250],
    ['before zero', -1, 0, 250],
  ])('has a frame at zero when the video starts %s', (_, start, lead, frames) => {
    expect(plan(10, {}, 2, { start })).toMatchObject({ lead, frames });
  });

  test.each([
    ['with it', 2.2, 2.2, 195],
    ['half a second after it', 2.71, 2.19, 195],
  ])('begins where an edit list does if the video starts %s', (_, start, lead, frames) => {
    expect(plan(10, {}, 2, { cut: 2.2, start })).toMatchObject({ lead, frames });
  });

  test('passes compatible tracks through, unless that failed before', () => {
    const compatible = { gops: [{ start: 0, duration: 5, bytes: 300_000 }], frames: 235 };
    const passed = plan(5, {}, 2, compatible);
    expect(passed).toMatchObject({
      copiesVideo: true,
      audio: [{ method: { copiedFrames: 235 } }],
      segmentSeconds: 6,
    });
    expect(passed.obstacles).toEqual({ video: null, audio: [null] });
    const encoded = plan(5, {}, 2, compatible, false);
    expect(encoded).toMatchObject({ copiesVideo: false, audio: [{ method: { samples: 239_616 } }] });
    expect(encoded.obstacles).toEqual({ video: 'failed', audio: ['failed'] });
    expect([passed, encoded].map(copiedRenditions)).toEqual([new Set(['360p', 'audio']), new Set()]);
  });

  describe('of video in a codec that the video has beside H.264', () => {
    const hevc = { codec: 'hevc', profile: 'Main', level: 63 };
    const gops = [0, 2, 4].map((start) => ({ start, duration: start === 4 ? 1 : 2, bytes: 50_000 }));
    const planned = (settings: Parameters<typeof plan>[5], allowCopy = true) =>
      plan(5, hevc, 0, { gops }, allowCopy, settings);

    test('passes it through as the top rendition of that codec, with the colours and cuts of encoded video', () => {
      const passed = planned({ codecs: ['av1', 'hevc'] });
      expect(passed).toMatchObject({
        copiesVideo: false,
        copiedAlternative: 'hevc',
        startsShort: true,
        segmentSeconds: 6,
        colour: BT709,
        obstacles: { video: null },
      });
      expect([copiedCodec(passed), copiedRenditions(passed)]).toEqual(['hevc', new Set()]);
    });

    test('encodes it if the video does not have that codec', () => {
      for (const settings of [{}, { codecs: ['av1'] as const }]) {
        const encoded = planned(settings);
        expect(encoded).not.toHaveProperty('copiedAlternative');
        expect([encoded.obstacles.video, copiedCodec(encoded)]).toEqual(['codec', null]);
      }
    });

    test('encodes it if that has failed, or the owner wants something else', () => {
      const codecs = ['hevc'] as const;
      expect(planned({ codecs }, false)).toMatchObject({ obstacles: { video: 'failed' } });
      const trimmed = planned({ codecs, trim: { start: 1, end: null } });
      expect(trimmed).toMatchObject({
        obstacles: { video: 'trim' },
        inputIssues: [],
      });
      for (const each of [planned({ codecs }, false), trimmed])
        expect(each).not.toHaveProperty('copiedAlternative');
    });

    test('does not exceed the bit rate of the codec, which is lower than that of H.264', () => {
      const obstacle = (bits: number) =>
        plan(5, hevc, 0, { gops: gops.map((gop) => ({ ...gop, bytes: (gop.duration * bits) / 8 })) }, true, {
          codecs: ['hevc'],
        }).obstacles.video;
      expect([550_000, 570_000].map(obstacle)).toEqual([null, 'bit_rate']);
    });

    test('passes H.264 through whatever the codecs are', () => {
      const passed = plan(5, {}, 0, { gops }, true, { codecs: ['av1', 'hevc'] });
      expect([passed.copiesVideo, copiedCodec(passed)]).toEqual([true, 'h264']);
      expect(passed).not.toHaveProperty('copiedAlternative');
    });
  });

  describe('of still video', () => {
    const hd = { coded: { width: 1280, height: 720 }, display: { width: 1280, height: 720 } };
    const names = ({ videoRenditions }: ReturnType<typeof plan>) => videoRenditions.map(({ name }) => name);
    /** Key frames every two seconds of so many bits a second. */
    const gopsOf = (bits: number) =>
      Array.from({ length: 6 }, (_, at) => ({ start: 2 * at, duration: 2, bytes: (2 * bits) / 8 }));

    test('has the lowest and the highest rung, and a key frame at the beginning of each segment', () => {
      const still = plan(12, hd, 0, { changes: 0.2 });
      expect(names(still)).toEqual(['360p', '720p']);
      expect(still.keyFrames).toEqual([0, 50, 100, 200]);
      const moving = plan(12, hd, 0, { changes: 2 });
      expect(names(moving)).toEqual(['360p', '480p', '720p']);
      expect(moving).not.toHaveProperty('keyFrames');
    });

    test('leaves out rungs below a stream copy only if that has a low bit rate', () => {
      const copied = (bits: number) => plan(12, hd, 0, { changes: 0.2, gops: gopsOf(bits) });
      expect([copied(790_000), copied(810_000)].map(names)).toEqual([
        ['360p', '720p'],
        ['360p', '480p', '720p'],
      ]);
      expect([copied(790_000), copied(810_000)].map(({ copiesVideo }) => copiesVideo)).toEqual([true, true]);
      expect(copied(790_000)).not.toHaveProperty('keyFrames');
    });

    test('is judged by the part that a trim leaves', () => {
      const changes = new Map(Array.from({ length: 60 }, (_, second) => [second, second < 30 ? 3 : 0]));
      const part = (start: number, end: number) =>
        plan(60, hd, 0, { changes }, true, { trim: { start, end } });
      expect([part(0, 20), part(32, 50)].map(names)).toEqual([
        ['360p', '480p', '720p'],
        ['360p', '720p'],
      ]);
      expect(part(32, 50).keyFrames).toEqual([0, 50, 100, 200, 350]);
    });

    test('has no more key frames because a codec beside H.264 is copied', () => {
      const hevc = { ...hd, codec: 'hevc', profile: 'Main', level: 93 };
      const copied = plan(12, hevc, 0, { changes: 0.2, gops: gopsOf(300_000) }, true, { codecs: ['hevc'] });
      expect(copied).toMatchObject({ copiedAlternative: 'hevc', keyFrames: [0, 50, 100, 200] });
    });
  });

  test('passes video through as the top rendition', () => {
    const hd = { coded: { width: 1280, height: 720 }, display: { width: 1280, height: 720 } };
    const passed = plan(5, hd, 0, { gops: [{ start: 0, duration: 5, bytes: 300_000 }] });
    expect(passed.obstacles.video).toBeNull();
    expect(copiedRenditions(passed)).toEqual(new Set(['720p']));
  });

  test('passes video through only if lower renditions have the first frames of its segments', () => {
    const hd = { coded: { width: 1280, height: 720 }, display: { width: 1280, height: 720 } };
    const fast = { ...hd, level: 32, declaredRate: { numerator: 50, denominator: 1 } };
    const obstacle = (first: number) => {
      const gops = [0, first].map((start, at) => ({
        start,
        duration: at === 0 ? first : 10 - first,
        bytes: 1,
      }));
      return plan(10, fast, 0, { gops, rate: 50 }).obstacles.video;
    };
    expect([6.04, 6.02].map(obstacle)).toEqual([null, 'segments']);
  });

  test('cuts segments where the copied video allows it', () => {
    const durations = [3, 2.5, 3, 4.5, 2.5, 2, 2.5];
    const gops = durations.map((duration, at) => ({
      start: durations.slice(0, at).reduce((sum, seconds) => sum + seconds, 0),
      duration,
      bytes: 1000,
    }));
    expect(plan(20, {}, 2, { gops })).toMatchObject({ copiesVideo: true, segmentSeconds: 5 });
  });

  test('has the colours of BT.709 if everything is encoded', () => {
    const bt709 = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' };
    expect(plan(5, { colorMatrix: 'smpte170m' }).colour).toEqual(bt709);
  });

  test('names the obstacles to a stream copy', () => {
    expect(plan(5, { codec: 'hevc' }).obstacles).toEqual({ video: 'codec', audio: ['gaps'] });
    expect(plan(5, { codec: 'hevc' }, 0)).toMatchObject({ audio: [], obstacles: { audio: [] } });
  });

  test('may pass only the audio through', () => {
    const passed = plan(5, {}, 2, { frames: 235 });
    expect(passed.obstacles).toEqual({ video: 'irregular', audio: [null] });
    expect([passed, plan(5), plan(5, {}, 0)].map(copiedRenditions)).toEqual([
      new Set(['audio']),
      new Set(),
      new Set(),
    ]);
  });

  test.each([
    [1, 1, false],
    [2, 2, false],
    [6, 2, true],
  ])('converts %s channels to %s', (channels, made, downmix) => {
    expect(plan(10, {}, channels).audio).toEqual([
      {
        name: 'audio',
        index: 1,
        method: { samples: 479_232 },
        end: 479_232 / 48_000,
        channels: made,
        late: false,
        downmix,
        decodeToStereo: false,
      },
    ]);
  });

  test('takes images only from frames that all renditions have', () => {
    expect(plan(10).images.storyboard?.tiles).toBe(10);
    const size = { width: 1280, height: 720 };
    const fast = plan(1, { interlaced: true, coded: size, display: size });
    expect(fast.frames).toBe(50);
    expect(fast.images.storyboard?.tiles).toBe(1);
  });

  test('recognizes frames that need no conversion', () => {
    const hd = { coded: { width: 1280, height: 720 } };
    expect(
      [plan(1), plan(1, { ...hd, colorMatrix: null })].map(({ pixelsCompatible }) => pixelsCompatible),
    ).toEqual([true, true]);
    const others: Partial<VideoTrack>[] = [
      { colorMatrix: null },
      { colorMatrix: 'smpte170m' },
      { pixelFormat: 'yuv422p' },
      { fullRange: true },
      { coded: { width: 853, height: 480 } },
      { coded: { width: 854, height: 479 } },
      { dynamicRange: 'hlg' },
      { colorPrimaries: 'bt2020' },
    ];
    for (const changes of others) expect(plan(1, changes).pixelsCompatible).toBe(false);
  });

  test.each([
    ['interlaced', 'h264', 'mp4', true, 'send_field', 50],
    ['progressive', 'h264', 'mp4', false, null, 25],
    ['television that may change to interlaced', 'h264', 'mpegts', false, 'send_frame', 25],
    ['field-coded HEVC', 'hevc', 'mpegts', true, null, 25],
  ])('chooses how to deinterlace: %s', (...facts) => {
    const [, codec, container, interlaced, deinterlace, rate] = facts;
    expect(plan(1, { codec, interlaced }, 2, { container })).toMatchObject({
      deinterlace,
      frames: rate,
      sourceRate: 25,
      frameRate: { numerator: rate, denominator: 1 },
    });
  });

  test.each([
    ['h264', 60],
    ['mpeg2video', 25],
  ])('uses the grid of %s frames, unless it is a grid of fields', (codec, rate) => {
    const grid = { numerator: 60, denominator: 1 };
    const { frameRate } = plan(1, { codec, declaredRate: null }, 2, { grid });
    expect(frameRate.numerator).toBe(rate);
  });

  test('moves all frames so that the fewest are lost, unless their times jitter', () => {
    const grid = { numerator: 25, denominator: 1 };
    const losses = [{ rate: grid, phase: 0.2, lost: 0, crowded: 0 }];
    expect(plan(2, {}, 2, { grid, losses })).toMatchObject({ lead: -0.008, frames: 50 });
    expect(plan(3, {}, 2, { grid, losses, start: 0.5, cut: 0.1 })).toMatchObject({ lead: 0.092, frames: 73 });
    expect(plan(2, {}, 2, { losses })).toMatchObject({ lead: 0, frames: 50 });
  });

  test('assumes a matrix by size for untagged video only', () => {
    expect(plan(1).assumedMatrix).toBeNull();
    expect(plan(1, { colorMatrix: null }).assumedMatrix).toBe('bt601');
    expect(plan(1, { colorMatrix: null, coded: { width: 1280, height: 720 } }).assumedMatrix).toBe('bt709');
  });

  test('reports what it changes about the source', () => {
    const issues = plan(10, { interlaced: true }, 6, { declared: 20 }).inputIssues;
    expect(issues.map(({ code }) => code)).toEqual(['interlaced', 'truncated', 'audio_downmixed']);
  });
});

test('I-frames are those of the lowest rung', () => {
  expect(iFrameSource(planLadder({ width: 1280, height: 720 }, 25).slice(1))).toBe('480p');
  expect(iFrameSource([])).toBeNull();
});
