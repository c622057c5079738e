import { expect, test } from '@jest/globals';
import { chaptersOf } from './chapters.ts';

const chapters = (...starts: number[]) => starts.map((start) => ({ start, title: `At ${start}` }));
const starts = (source: ReturnType<typeof chapters>, lead: number, duration = 60) =>
  chaptersOf(source, { lead, duration }).map(({ start }) => start);

test('chapters move with the timestamps of the output', () => {
  expect(chaptersOf(chapters(500, 10_000), { lead: 0.25, duration: 60 })).toEqual([
    { start: 250, title: 'At 500' },
    { start: 9750, title: 'At 10000' },
  ]);
  expect(starts(chapters(0, 10_000), -0.04)).toEqual([40, 10_040]);
});

test('the chapter that runs when the output begins starts there, and earlier ones are left out', () => {
  expect(chaptersOf(chapters(-3000, 0, 2000, 5000), { lead: 4, duration: 60 })).toEqual([
    { start: 0, title: 'At 2000' },
    { start: 1000, title: 'At 5000' },
  ]);
  expect(starts(chapters(1000, 4000), 4)).toEqual([0]);
});

test('chapters that are over before the output begins are left out', () => {
  const source = [
    { start: 0, end: 2000, title: 'Over' },
    { start: 2000, end: 2000, title: 'Without a duration' },
    { start: 7000, end: 9000, title: 'Later' },
  ];
  expect(chaptersOf(source, { lead: 5, duration: 60 })).toEqual([
    { start: 0, title: 'Without a duration' },
    { start: 2000, title: 'Later' },
  ]);
  expect(chaptersOf(source.slice(0, 1), { lead: 5, duration: 60 })).toEqual([]);
});

test('chapters from the end of the output on are left out', () => {
  expect(starts(chapters(0, 59_999, 60_000, 70_000), 0)).toEqual([0, 59_999]);
});

test('an untitled chapter gets its number', () => {
  const source = [
    { start: 0, title: '' },
    { start: 1000, title: 'Named' },
    { start: 2000, title: '' },
  ];
  expect(chaptersOf(source, { lead: 0, duration: 60 }).map(({ title }) => title)).toEqual([
    'Chapter 1',
    'Named',
    'Chapter 3',
  ]);
});

test('a single untitled chapter is left out if it is the whole video', () => {
  expect(chaptersOf([{ start: 0, title: '' }], { lead: 0, duration: 60 })).toEqual([]);
  expect(chaptersOf([{ start: 0, title: 'All' }], { lead: 0, duration: 60 })).toHaveLength(1);
  expect(chaptersOf([{ start: 10, title: '' }], { lead: 0, duration: 60 })).toHaveLength(1);
});

test('none are taken from a file with too many', () => {
  expect(chaptersOf('too_many', { lead: 0, duration: 60 })).toEqual([]);
});
