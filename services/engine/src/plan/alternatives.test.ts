import { ALTERNATIVE_CODECS, PLAIN_CODEC } from '@framelane/contracts/renditions';
import { expect, test } from '@jest/globals';
import { encoderOfCodec } from '../encoders/encoders.ts';
import { inCodec, planAlternatives } from './alternatives.ts';
import { planLadder } from './ladder.ts';

const LADDER = planLadder({ width: 720, height: 1280 }, 50);

test.each(ALTERNATIVE_CODECS)('the ladder in %s has the same frames in fewer bits', (codec) => {
  const { rateFactor } = encoderOfCodec(codec);
  expect(rateFactor).toBeLessThan(1);
  expect(inCodec(codec, LADDER)).toEqual(
    LADDER.map(({ name, maxRate, ...frames }) => ({
      ...frames,
      name: `${name}-${codec}`,
      maxRate: Math.round(rateFactor * maxRate),
    })),
  );
});

test('a bit rate is a whole number of bits', () => {
  const [odd] = inCodec('av1', [{ name: '360p', width: 2, height: 2, maxRate: 33_333, frameStep: 1 }]);
  expect(odd?.maxRate).toBe(23_333);
});

test('a ladder in another codec has the rungs of the ladder that it is made from', () => {
  expect(inCodec(PLAIN_CODEC, LADDER)).toEqual(LADDER);
  expect(inCodec('hevc', inCodec('hevc', LADDER)).map(({ name }) => name)).toEqual(
    LADDER.map(({ name }) => `${name}-hevc`),
  );
});

const SDR = { colorMatrix: 'bt709', colorPrimaries: 'bt709', colorTransfer: 'bt709' };
const BT2020 = { colorMatrix: 'bt2020nc', colorPrimaries: 'bt2020', colorTransfer: 'smpte2084' };
const PLAN = { videoRenditions: LADDER, dynamicRange: 'sdr', tagged: SDR } as const;
const ALL = { tenBit: true, hdr: 'keep', pixelFormat: 'yuv420p10le' } as const;
const WATERMARK = {} as never;

test('sound alone has no ladder, and a codec none whose encoder needs larger frames', () => {
  expect(planAlternatives(ALTERNATIVE_CODECS, { ...PLAN, videoRenditions: [] }, ALL)).toEqual([]);
  const codecsOf = (width: number, height: number) => {
    const videoRenditions = planLadder({ width, height }, 25);
    return planAlternatives(ALTERNATIVE_CODECS, { ...PLAN, videoRenditions }, ALL).map(({ codec }) => codec);
  };
  expect(codecsOf(64, 64)).toEqual(['av1', 'hevc']);
  expect(codecsOf(62, 128)).toEqual(['hevc']);
  expect(codecsOf(128, 62)).toEqual(['hevc']);
});

test.each([
  ['10 bits', PLAN, ALL, { range: 'sdr' }],
  ['8 bits if the source has no more', PLAN, { ...ALL, pixelFormat: 'yuv420p' }, undefined],
  ['8 bits unless the engine keeps 10', PLAN, { ...ALL, tenBit: false }, undefined],
  ['8 bits with a watermark', { ...PLAN, watermark: WATERMARK }, ALL, undefined],
  ['PQ', { ...PLAN, dynamicRange: 'pq', tagged: BT2020 }, ALL, { range: 'pq' }],
  ['HLG', { ...PLAN, dynamicRange: 'hlg', tagged: BT2020 }, { ...ALL, tenBit: false }, { range: 'hlg' }],
  [
    'SDR unless the video keeps PQ',
    { ...PLAN, dynamicRange: 'pq', tagged: BT2020 },
    { ...ALL, hdr: 'sdr' },
    undefined,
  ],
  [
    'SDR for other primaries',
    { ...PLAN, dynamicRange: 'pq', tagged: { ...BT2020, colorPrimaries: 'smpte432' } },
    ALL,
    undefined,
  ],
  [
    'SDR for another matrix',
    { ...PLAN, dynamicRange: 'pq', tagged: { ...BT2020, colorMatrix: 'bt2020c' } },
    ALL,
    undefined,
  ],
  [
    'SDR with a watermark',
    { ...PLAN, dynamicRange: 'pq', tagged: BT2020, watermark: WATERMARK },
    ALL,
    undefined,
  ],
] as const)('a ladder has %s', (_, plan, settings, tenBit) => {
  const ladders = planAlternatives(ALTERNATIVE_CODECS, plan, settings);
  expect(ladders.map((ladder) => ladder.tenBit)).toEqual([tenBit, tenBit]);
});
