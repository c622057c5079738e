import { expect, test } from '@jest/globals';
import {
  hasFurther,
  ofSound,
  packagingWords,
  withCodecs,
  withHdr,
  withPackaging,
  withWatermark,
} from './packaging-request.ts';

test('codecs beside H.264 need CMAF', () => {
  expect(withCodecs({ packaging: 'ts' }, 'h264,av1')).toEqual({
    packaging: 'cmaf',
    codecs: ['h264', 'av1'],
  });
  expect(withCodecs({ packaging: 'ts' }, 'h264')).toEqual({ packaging: 'ts', codecs: ['h264'] });
  expect(withCodecs({ packaging: 'cmaf', codecs: ['h264', 'av1'] }, '')).toEqual({
    packaging: 'cmaf',
  });
  expect([hasFurther(), hasFurther(['h264']), hasFurther(['h264', 'av1'])]).toEqual([false, false, true]);
});

test('high dynamic range needs codecs beside H.264', () => {
  const codecs = ['h264' as const, 'av1' as const];
  const request = { packaging: 'cmaf' as const, codecs, hdr: 'keep' as const };
  expect(withHdr({ packaging: 'cmaf', codecs }, 'keep')).toEqual(request);
  expect(withHdr(request, 'sdr')).toEqual({ ...request, hdr: 'sdr' });
  expect(withHdr(request, '')).toEqual({ packaging: 'cmaf', codecs });
  expect(withCodecs(request, 'h264,hevc')).toEqual({ ...request, codecs: ['h264', 'hevc'] });
  expect(withCodecs(request, 'h264')).toEqual({ packaging: 'cmaf', codecs: ['h264'] });
  expect(withCodecs(request, '')).toEqual({ packaging: 'cmaf' });
});

test('a packaging that has no name is that of the installation', () => {
  const codecs = ['h264' as const];
  expect(withPackaging({ codecs }, 'cmaf')).toEqual({ packaging: 'cmaf', codecs });
  expect(withPackaging({ packaging: 'cmaf', codecs }, '')).toEqual({ codecs });
  expect(withPackaging({ packaging: 'cmaf' }, '')).toEqual({});
});

test('the words name what was chosen', () => {
  expect(packagingWords({})).toBe('default');
  expect(packagingWords({ packaging: 'ts' })).toBe('TS');
  expect(packagingWords({ codecs: ['h264'] })).toBe('H.264');
  expect(packagingWords({ packaging: 'cmaf', codecs: ['h264', 'hevc'] })).toBe('CMAF, H.264, HEVC');
  expect(packagingWords({ codecs: ['h264', 'hevc'], hdr: 'keep' })).toBe('H.264, HEVC, HDR');
});

test('sound alone has a packaging and no codecs', () => {
  expect(ofSound({ packaging: 'cmaf', codecs: ['h264', 'av1'], hdr: 'keep' })).toEqual({ packaging: 'cmaf' });
  expect(ofSound({ codecs: ['h264', 'av1'] })).toEqual({});
});

test('a video with a watermark has standard range, whatever was chosen', () => {
  expect(withWatermark({ packaging: 'cmaf', codecs: ['h264', 'av1'], hdr: 'keep' })).toEqual({
    packaging: 'cmaf',
    codecs: ['h264', 'av1'],
  });
});
