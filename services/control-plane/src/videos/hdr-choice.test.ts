import { expect, test } from '@jest/globals';
import { hdrOf } from './hdr-choice.ts';

test('a video does what its request says, else what the installation does', () => {
  const codecs = ['av1'] as const;
  expect([hdrOf({ codecs }, 'sdr'), hdrOf({ codecs }, 'keep')]).toEqual(['sdr', 'keep']);
  expect(hdrOf({ codecs, hdr: 'keep' }, 'sdr')).toBe('keep');
  expect(hdrOf({ codecs, hdr: 'sdr' }, 'keep')).toBe('sdr');
});

test.each([
  ['H.264 alone', { codecs: [] }, 'without further codecs: name av1 or hevc in codecs'],
  ['sound alone', { codecs: [], audioOnly: true }, 'with audioOnly'],
  ['a watermark', { codecs: ['hevc'], watermark: {} }, 'with a watermark'],
] as const)('%s cannot keep it: the default does not apply, and a request is refused', (_, video, why) => {
  expect([hdrOf(video, 'keep'), hdrOf({ ...video, hdr: 'sdr' }, 'keep')]).toEqual(['sdr', 'sdr']);
  expect(() => hdrOf({ ...video, hdr: 'keep' }, 'keep')).toThrow(`body/hdr must be sdr or absent ${why}`);
});
