import { expect, test } from '@jest/globals';
import { importRequest, wrongHeaderLine } from './import-request.ts';

test('empty fields are left out', () => {
  expect(
    importRequest({ url: ' https://a.example/b.mp4 ', title: ' ', headers: '\n', audioOnly: false }),
  ).toEqual({
    url: 'https://a.example/b.mp4',
  });
});

test('each line is a header', () => {
  const headers = 'Authorization: Bearer a:b\n\n  X-Empty:  \n';
  expect(importRequest({ url: 'u', title: ' T ', headers, audioOnly: true })).toEqual({
    audioOnly: true,
    url: 'u',
    title: 'T',
    headers: { Authorization: 'Bearer a:b', 'X-Empty': '' },
  });
  expect(wrongHeaderLine(headers)).toBeUndefined();
});

test('a trim is that of the request', () => {
  const form = { url: 'u', title: '', headers: '', audioOnly: false };
  expect(importRequest({ ...form, trim: { start: 1 } })).toEqual({ url: 'u', trim: { start: 1 } });
});

test('the packaging of the next uploads is that of the request; sound alone has no codecs', () => {
  const form = { url: 'u', title: '', headers: '' };
  const packaging = { packaging: 'cmaf' as const, codecs: ['h264' as const, 'av1' as const] };
  expect(importRequest({ ...form, audioOnly: false, packaging })).toEqual({ url: 'u', ...packaging });
  expect(importRequest({ ...form, audioOnly: true, packaging })).toEqual({
    url: 'u',
    audioOnly: true,
    packaging: 'cmaf',
  });
});

test('sound alone has no watermark', () => {
  const form = { url: 'u', title: '', headers: '', watermark: { image: 'wmk_1' } };
  expect(importRequest({ ...form, audioOnly: false })).toEqual({ url: 'u', watermark: { image: 'wmk_1' } });
  expect(importRequest({ ...form, audioOnly: true })).toEqual({ url: 'u', audioOnly: true });
});

test('a line without a name or without a colon is reported', () => {
  expect(wrongHeaderLine('A: b\nBearer abc')).toBe('Bearer abc');
  expect(wrongHeaderLine(': b')).toBe(': b');
});
