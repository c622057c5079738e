import { expect, test } from '@jest/globals';
import { DEFAULT_WORDS, fill, formatBytes, wordsWith } from './words.ts';

test('words replace those of the same name', () => {
  expect(wordsWith({})).toEqual(DEFAULT_WORDS);
  const changes = { pause: 'Anhalten', 'error:quota_exceeded': 'Das Kontingent ist erschöpft.' };
  expect(wordsWith(changes)).toEqual({ ...DEFAULT_WORDS, ...changes });
});

test.each<unknown>([null, 'pause', ['pause'], { puase: 'x' }, { pause: 1 }, { toString: 'x' }])(
  'the words %j are refused',
  (changes) => expect(() => wordsWith(changes)).toThrow('words of <framelane-uploader>'),
);

test('values are filled in once, and unknown names stay', () => {
  expect(fill('{action} {name} {other}', { action: 'Pause', name: '{action}.mp4' })).toBe(
    'Pause {action}.mp4 {other}',
  );
});

test.each([
  [0, 'en', '0 byte'],
  [999, 'en', '999 byte'],
  [1000, 'en', '1 kB'],
  [1_550_000, 'de', '1,6 MB'],
  [25e15, 'en', '25,000 TB'],
  [12_000, 'not a language', '12 kB'],
])('%d bytes in %s are %s', (bytes, language, text) =>
  expect(formatBytes(bytes, language).replaceAll('\u00a0', ' ')).toBe(text),
);
