import { expect, test } from '@jest/globals';
import { isAccepted } from './accepted-files.ts';

const ACCEPT = 'video/*, audio/mpeg,.MKV,';

test.each([
  ['a.mp4', 'video/mp4', true],
  ['a.mp4', 'VIDEO/MP4', true],
  ['a.mp3', 'audio/mpeg', true],
  ['a.wav', 'audio/wav', false],
  // Many systems know no type of Matroska.
  ['A.mkv', '', true],
  ['A.mkv', 'application/octet-stream', true],
  ['a.mkv.txt', 'text/plain', false],
  ['.mkv.txt', 'text/plain', false],
  ['a.txt', 'audio/mpeg4', false],
  // Some know none of other videos, either.
  ['a.mov', '', true],
  ['a.mp4', 'videos/mp4', false],
])('%s of the type %j: %p', (name, type, accepted) =>
  expect(isAccepted({ name, type }, ACCEPT)).toBe(accepted),
);

test('a list of extensions refuses others without a type', () => {
  expect(isAccepted({ name: 'a.mov', type: '' }, '.mp4,.mkv')).toBe(false);
});

test('an empty list accepts all', () => {
  expect(isAccepted({ name: 'a.txt', type: 'text/plain' }, ' , ')).toBe(true);
});
