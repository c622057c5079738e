import { ApiError } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { chaptersOf, rowErrors, rowsOf, withRow } from './chapter-rows.ts';

const CHAPTERS = [
  { start: 0, title: 'A' },
  { start: 62.5, title: 'B' },
];

test('rows are the chapters, and the chapters are the rows', () => {
  const rows = rowsOf(CHAPTERS);
  expect(rows).toEqual([
    { key: 0, time: '0:00', title: 'A' },
    { key: 1, time: '1:02.5', title: 'B' },
  ]);
  expect(chaptersOf(rows)).toEqual({ chapters: CHAPTERS });
});

test('a row whose time cannot be read has an error', () => {
  const rows = rowsOf(CHAPTERS).map((row) => (row.key === 1 ? { ...row, time: 'later' } : row));
  expect(chaptersOf(rows)).toEqual({ errors: { 1: { time: 'Write a time such as 1:02.5.' } } });
});

test('a new row is before the first one that begins later', () => {
  const times = (seconds: number) => withRow(rowsOf(CHAPTERS), seconds).map(({ key, time }) => [key, time]);
  expect(times(5)).toEqual([
    [0, '0:00'],
    [2, '0:05'],
    [1, '1:02.5'],
  ]);
  expect(times(70).at(-1)).toEqual([2, '1:10']);
  expect(withRow([], 0)).toEqual([{ key: 0, time: '0:00', title: '' }]);
});

test('errors of the API are at their rows', () => {
  const errors = [
    { field: 'body/chapters/1/start', code: 'unique', message: 'is the start of another chapter, too' },
    { field: 'body/chapters/2/title', code: 'minLength', message: 'must not be empty' },
    { field: 'body/chapters', code: 'maxItems', message: 'is too long' },
  ];
  const code = 'validation_failed';
  const problem = {
    type: '',
    title: '',
    status: 400,
    detail: '',
    instance: '',
    code,
    requestId: 'r',
    errors,
  };
  expect(rowErrors(new ApiError('', { code, status: 400, requestId: 'r', problem }))).toEqual({
    1: { time: 'This is the start of another chapter, too.' },
    2: { title: 'This must not be empty.' },
  });
  expect(rowErrors(new Error('other'))).toEqual({});
});
