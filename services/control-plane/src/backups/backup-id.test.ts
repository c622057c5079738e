import { expect, test } from '@jest/globals';
import { isBackupId, newBackupId, newTimeline, timelineOf } from './backup-id.ts';

const TIMELINE = '0a1b2c3d4e5f6071';
const NOW = new Date('2026-11-29T17:05:00.000Z');

test('an id has the time and the timeline', () => {
  const id = newBackupId(NOW, TIMELINE);
  expect(id).toBe(`20261129T170500000Z-${TIMELINE}`);
  expect([isBackupId(id), timelineOf(id)]).toEqual([true, TIMELINE]);
  expect(isBackupId(newBackupId(NOW, newTimeline()))).toBe(true);
});

test.each([
  ['earlier', '20261129T170459999Z', '20261129T170500000Z'],
  ['of the same moment', '20261129T170500000Z', '20261129T170500001Z'],
  ['of the future', '20991231T235959999Z', '21000101T000000000Z'],
])('an id sorts after one that is %s', (_, latest, expected) => {
  const other = `${latest}-ffffffffffffffff`;
  const id = newBackupId(NOW, TIMELINE, other);
  expect(id).toBe(`${expected}-${TIMELINE}`);
  expect(id > other).toBe(true);
});

test('no id follows the last possible one', () => {
  const last = `99991231T235959999Z-${TIMELINE}`;
  expect(() => newBackupId(NOW, TIMELINE, last)).toThrow(`The backup ${last} has the last possible time.`);
  expect(newBackupId(NOW, TIMELINE, last.replace('999Z', '998Z'))).toBe(last);
});

test.each(['', 'x', '2026-11-29', `20261329T170500000Z-${TIMELINE}`, `20261129T170500000Z-${TIMELINE}0`])(
  '%j is no id',
  (text) => {
    expect(isBackupId(text)).toBe(false);
  },
);
