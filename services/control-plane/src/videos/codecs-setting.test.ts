import { describe, expect, test } from '@jest/globals';
import { codecsSettingOf, codecsUnlessNamed, readCodecs } from './codecs-setting.ts';

describe('the list of codecs', () => {
  test.each([
    ['h264', []],
    ['av1', ['av1']],
    ['hevc, h264,av1,hevc', ['av1', 'hevc']],
  ])('%j has beside H.264 %j', (list, codecs) => {
    expect(readCodecs(list)).toEqual(codecs);
  });

  test.each(['vp9', 'h264,', 'AV1', 'av1 hevc'])('%j is refused', (list) => {
    expect(readCodecs(list)).toBeNull();
  });
});

test('default codecs beside H.264 need CMAF as the default packaging', () => {
  expect(codecsSettingOf({ CODECS: [], PACKAGING: 'ts' })).toEqual([]);
  expect(codecsSettingOf({ CODECS: ['av1'], PACKAGING: 'cmaf' })).toEqual(['av1']);
  expect(() => codecsSettingOf({ CODECS: ['av1', 'hevc'], PACKAGING: 'ts' })).toThrow(
    'CODECS: av1 and hevc can only be packed with PACKAGING=cmaf',
  );
});

test('a video that cannot have the default codecs has none', () => {
  expect(codecsUnlessNamed({ packaging: 'cmaf' }, ['av1'])).toEqual(['av1']);
  expect(codecsUnlessNamed({ packaging: 'cmaf', audioOnly: false }, ['av1'])).toEqual(['av1']);
  expect(codecsUnlessNamed({ packaging: 'cmaf', audioOnly: true }, ['av1'])).toEqual([]);
  expect(codecsUnlessNamed({ packaging: 'ts' }, ['av1'])).toEqual([]);
});
