import { expect, test } from '@jest/globals';
import { ffmetadata } from './ffmetadata.ts';

test('the characters with a meaning are escaped', () => {
  expect(ffmetadata({ title: 'a=b;c#d\\e\nf "g"', chapters: [], duration: 1 })).toBe(
    ';FFMETADATA1\ntitle=a\\=b\\;c\\#d\\\\e\\\nf "g"\n',
  );
});

test('a chapter lasts until the next one, the last one until the end', () => {
  const chapters = [
    { start: 0, title: 'One' },
    { start: 62.5, title: '[CHAPTER]\nSTART=0' },
    { start: 90, title: 'After the end' },
  ];
  expect(ffmetadata({ title: 'T', chapters, duration: 80.04 }).split('\n').slice(2)).toEqual([
    ...['[CHAPTER]', 'TIMEBASE=1/1000', 'START=0', 'END=62500', 'title=One'],
    ...['[CHAPTER]', 'TIMEBASE=1/1000', 'START=62500', 'END=80040', 'title=[CHAPTER]\\', 'START\\=0'],
    '',
  ]);
});

test('a blank chapter precedes a first one that begins later', () => {
  const lines = ffmetadata({ title: 'T', chapters: [{ start: 3, title: 'One' }], duration: 9 }).split('\n');
  expect(lines.filter((line) => /^(START|END|title)=/.test(line)).slice(1)).toEqual([
    ...['START=0', 'END=3000', 'title= ', 'START=3000', 'END=9000', 'title=One'],
  ]);
});
