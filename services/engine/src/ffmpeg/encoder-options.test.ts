import {
  ALTERNATIVE_CODECS,
  type AlternativeCodec,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { audioPlan, encodePlan } from '../../tests/support/tracks.ts';
import { PRESETS } from '../encoders/encoder.ts';
import { inCodec } from '../plan/alternatives.ts';
import { BT709 } from '../plan/colour.ts';
import { encodedRenditions } from '../plan/encode-plan.ts';
import { planLadder } from '../plan/ladder.ts';
import { audioOptions, pieceEncoderOptions, videoCopyOptions, videoOptions } from './encoder-options.ts';

/** The options of each encoded rendition, lowest first. */
const optionsOf = (changes: Partial<EncodePlan> = {}, preset = 'veryfast') => {
  const plan = encodePlan(changes);
  return encodedRenditions(plan).map((rendition) => videoOptions(rendition, plan, { preset, threads: 2 }));
};
const optionOf = (options: readonly string[], name: string) =>
  options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
const valuesOf = (renditions: readonly (readonly string[])[], name: string) =>
  renditions.map((options) => optionOf(options, `${name}:v`));

const FAST = {
  videoRenditions: planLadder({ width: 1280, height: 720 }, 50),
  frameRate: { numerator: 50, denominator: 1 },
};

/** Those of SVT-AV1, for the presets of the engine. */
const AV1_PRESETS = ['12', '12', '10', '9', '8', '7', '6', '5', '4'];

describe('the encoder options', () => {
  test('of one rendition', () => {
    const videoRenditions = planLadder({ width: 640, height: 360 }, 25);
    expect(optionsOf({ videoRenditions }).map((options) => options.join(' '))).toEqual([
      [
        '-c:v libx264 -preset:v veryfast -profile:v high -level:v 3.0',
        '-refs:v 2 -x264-params:v me=dia:aq-mode=2:direct=temporal:trellis=1:mixed-refs=1 -crf:v 23',
        '-forced-idr:v 1 -sc_threshold:v 0 -a53cc:v 0 -flags:v +cgop',
        '-maxrate:v 800000 -bufsize:v 1600000 -force_key_frames:v expr:gte(t,n_forced*2) -g:v 51',
        '-threads:v 2',
      ].join(' '),
    ]);
  });

  test.each([
    ['fast', [undefined, undefined]],
    ['veryfast', ['2', '2']],
    ['slow', ['5', '5']],
    ['slower', ['8', '8']],
    ['veryslow', ['8', '11']],
  ])('with preset %s use at most as many reference frames as the level allows', (preset, references) => {
    const videoRenditions = planLadder({ width: 854, height: 480 }, 50);
    const options = optionsOf({ videoRenditions, frameRate: FAST.frameRate }, preset);
    expect(valuesOf(options, '-refs')).toEqual(references);
  });

  test.each([
    ['ultrafast', undefined, undefined],
    ['superfast', 'b-adapt=2:trellis=1', undefined],
    [
      'veryfast',
      'me=dia:aq-mode=2:direct=temporal:trellis=1:mixed-refs=1',
      'me=dia:aq-mode=2:direct=temporal:trellis=1:mixed-refs=1',
    ],
    ['faster', 'b-adapt=2:mixed-refs=1', undefined],
    ['fast', 'b-adapt=2', undefined],
    ['medium', 'b-adapt=2', undefined],
    ['slow', undefined, undefined],
  ])('with preset %s have -x264-params %j for 360p and 480p, and %j for 720p', (preset, small, other) => {
    const videoRenditions = planLadder({ width: 1280, height: 720 }, 25);
    const options = optionsOf({ videoRenditions }, preset);
    expect(valuesOf(options, '-x264-params')).toEqual([small, small, other]);
  });

  test('have a rule for the key frames of a piece that are too many for a list', () => {
    const listed = (count: number) => {
      const keyFrames = Array.from({ length: count }, (_, at) => 50 * at);
      const plan = encodePlan({ videoRenditions: planLadder({ width: 640, height: 360 }, 25) });
      const [rendition] = plan.videoRenditions as [(typeof plan.videoRenditions)[number]];
      const options = pieceEncoderOptions(rendition, {
        plan,
        piece: { keyFrames },
        settings: { preset: 'veryfast', threads: 1 },
      });
      return options[options.indexOf('-force_key_frames:v') + 1] ?? '';
    };
    expect(listed(8000).length).toBeLessThan(128 * 1024);
    expect(listed(8001)).toBe('expr:gte(t,n_forced*2)');
  });

  test('force the key frames of the plan, if it has any', () => {
    const options = optionsOf({
      keyFrames: [0, 150, 200],
      frameRate: { numerator: 30000, denominator: 1001 },
    });
    expect(valuesOf(options, '-force_key_frames')).toEqual(Array(2).fill('0.000000,5.005000,6.673333'));
    expect(valuesOf(options, '-g')).toEqual(Array(2).fill('196'));
  });

  test('force key frames at frames that renditions of half the frame rate have', () => {
    const options = optionsOf(FAST);
    expect(valuesOf(options, '-force_key_frames')).toEqual([
      'expr:gte(t+0.000001,n_forced*2)',
      'expr:gte(t+0.000001,n_forced*2)',
      'expr:gte(t+0.000001,n_forced*2)*not(mod(n,2))',
    ]);
    expect(valuesOf(options, '-g')).toEqual(['51', '51', '101']);
    expect(valuesOf(options, '-level')).toEqual(['3.0', '3.0', '3.2']);
  });

  test('with a stream copy take the key frames of the source', () => {
    const options = optionsOf({ copiesVideo: true });
    expect(valuesOf(options, '-force_key_frames')).toEqual(['source']);
    expect(valuesOf(options, '-g')[0]).toBe('164');
  });

  test.each([
    [{ matrix: 'smpte170m', primaries: 'bt470bg', transfer: 'bt470m' }, [5, 4, 6]],
    [{ matrix: 'bt709', primaries: 'bt709', transfer: 'iec61966-2-1' }, [1, 13, 1]],
  ])('of copied video remove supplemental information and write the tags of %j', (colour, codes) => {
    const [primaries, transfer, matrix] = codes;
    expect(optionOf(videoCopyOptions({ name: '1080p' }, { colour }), '-bsf:v')).toBe(
      'filter_units=remove_types=6,h264_metadata=' +
        `colour_primaries=${primaries}:transfer_characteristics=${transfer}:matrix_coefficients=${matrix}` +
        ':video_full_range_flag=0:sample_aspect_ratio=1/1',
    );
  });

  test('of video that is copied in another codec are those of the codec', () => {
    const copied = (name: VideoRendition) => videoCopyOptions({ name }, { colour: BT709 });
    const codes = 'primaries=1:transfer_characteristics=1:matrix_coefficients=1';
    expect(copied('1080p-hevc')).toEqual([
      ...['-c:v', 'copy', '-bsf:v'],
      `filter_units=remove_types=35-63,hevc_metadata=colour_${codes}:video_full_range_flag=0:sample_aspect_ratio=1/1`,
      ...['-tag:v', 'hvc1'],
    ]);
    expect(copied('1080p-av1')).toEqual([
      ...['-c:v', 'copy', '-bsf:v'],
      `filter_units=remove_types=0|5|8-15,av1_metadata=color_${codes}:color_range=tv`,
    ]);
  });

  test('with a copy in another codec have key frames after the frames of two seconds', () => {
    const copiedAlternative = 'hevc';
    const options = optionsOf({ copiedAlternative });
    expect(valuesOf(options, '-force_key_frames')).toEqual(Array(2).fill('expr:not(mod(n,50))'));
    const rate = 60_000 / 1001;
    const fast = optionsOf({
      copiedAlternative,
      frameRate: { numerator: 60_000, denominator: 1001 },
      videoRenditions: planLadder({ width: 1280, height: 720 }, rate),
    });
    expect(valuesOf(fast, '-force_key_frames')).toEqual(
      [60, 60, 120].map((frames) => `expr:not(mod(n,${frames}))`),
    );
    // No other key frame is due before that.
    for (const [at, frames] of [60, 60, 120].entries())
      expect(Number(valuesOf(fast, '-g')[at])).toBeGreaterThan(frames);
  });

  test('of copied audio drop the frames after the end', () => {
    expect(audioOptions(audioPlan({ method: { copiedFrames: 94 } }))).toEqual([
      ...['-c:a', 'copy', '-bsf:a', 'noise=drop=gte(n\\,94)'],
    ]);
  });

  test.each([
    [1, '64k'],
    [2, '128k'],
    [6, '320k'],
  ] as const)('of audio with %s channels have a bit rate of %s', (channels, rate) => {
    expect(audioOptions(audioPlan({ channels }))).toEqual(['-c:a', 'aac', '-b:a', rate]);
  });
});

/** The options of a piece in another codec, lowest rendition first. */
const pieceOptionsIn = (
  codec: AlternativeCodec,
  preset = 'veryfast',
  { videoRenditions, frameRate }: Pick<EncodePlan, 'videoRenditions' | 'frameRate'> = FAST,
) => {
  const plan = { ...encodePlan({ frameRate }), videoRenditions: inCodec(codec, videoRenditions) };
  const piece = { keyFrames: [0, 100, 200] };
  return plan.videoRenditions.map((rendition) =>
    pieceEncoderOptions(rendition, { plan, piece, settings: { preset, threads: 2 } }),
  );
};

describe('the encoder options of a piece', () => {
  const SLOW = {
    videoRenditions: planLadder({ width: 640, height: 360 }, 29.97),
    frameRate: { numerator: 30_000, denominator: 1001 },
  };
  // At 29.97 frames a second, the times are rounded down to microseconds.
  const RATE_AND_KEYS =
    '-maxrate:v 560000 -bufsize:v 1120000 -force_key_frames:v 0.000000,3.336666,6.673333 -g:v 61 -threads:v 2';

  test('in AV1', () => {
    expect(pieceOptionsIn('av1', 'veryfast', SLOW).map((options) => options.join(' '))).toEqual([
      [
        '-c:v libsvtav1 -preset:v 10 -crf:v 41 -svtav1-params:v enable-force-key-frames=1:scd=0:lp=1:mbr-overshoot-pct=10',
        RATE_AND_KEYS,
      ].join(' '),
    ]);
  });

  test('in HEVC', () => {
    expect(pieceOptionsIn('hevc', 'veryfast', SLOW).map((options) => options.join(' '))).toEqual([
      [
        '-c:v libx265 -preset:v superfast -crf:v 26',
        '-x265-params:v open-gop=0:scenecut=0:min-keyint=1:pools=none:frame-threads=1:info=0:log-level=error',
        '-forced-idr:v 1 -tag:v hvc1',
        RATE_AND_KEYS,
      ].join(' '),
    ]);
  });

  test.each(PRESETS.map((preset, at) => [preset, AV1_PRESETS[at]]))(
    'with preset %s have the preset %s of AV1, and that of HEVC',
    (preset, ofAv1) => {
      const ofHevc = preset === 'veryfast' ? 'superfast' : preset;
      expect(valuesOf(pieceOptionsIn('av1', preset), '-preset')).toEqual([ofAv1, ofAv1, ofAv1]);
      expect(valuesOf(pieceOptionsIn('hevc', preset), '-preset')).toEqual([ofHevc, ofHevc, ofHevc]);
    },
  );

  test.each(ALTERNATIVE_CODECS)('in %s have the key frames of H.264, and a part of its bit rate', (codec) => {
    const options = pieceOptionsIn(codec);
    const plain = FAST.videoRenditions.map((rendition) =>
      pieceEncoderOptions(rendition, {
        plan: encodePlan(FAST),
        piece: { keyFrames: [0, 100, 200] },
        settings: { preset: 'veryfast', threads: 2 },
      }),
    );
    for (const name of ['-force_key_frames', '-g', '-threads'])
      expect(valuesOf(options, name)).toEqual(valuesOf(plain, name));
    expect(valuesOf(options, '-g')).toEqual(['51', '51', '101']);
    expect(valuesOf(options, '-maxrate')).toEqual(['560000', '980000', '2744000']);
    expect(valuesOf(options, '-bufsize')).toEqual(['1120000', '1960000', '5488000']);
  });
});
