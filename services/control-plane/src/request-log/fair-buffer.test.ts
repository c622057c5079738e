import { expect, test } from '@jest/globals';
import { FairBuffer } from './fair-buffer.ts';

const LIMITS = { entriesOfWorkspace: 3, bytesOfWorkspace: 100, bytes: 150 };
const entry = (workspaceId: string, bytes = 10, name = '') => ({ workspaceId, bytes, name });

test('entries come out by workspace, in their order, once', () => {
  const buffer = new FairBuffer<ReturnType<typeof entry>>(LIMITS);
  for (const [id, name] of ['a1', 'b1', 'a2'] as const) expect(buffer.add(entry(id ?? '', 10, name))).toBe(0);
  expect(buffer.takeAll()).toEqual([
    ['a', [entry('a', 10, '1'), entry('a', 10, '2')]],
    ['b', [entry('b', 10, '1')]],
  ]);
  expect(buffer.takeAll()).toEqual([]);
});

test('a workspace has at most its number of entries', () => {
  const buffer = new FairBuffer(LIMITS);
  expect([1, 2, 3, 4].map(() => buffer.add(entry('a')))).toEqual([0, 0, 0, 1]);
  expect([buffer.hasRoomFor('a'), buffer.hasRoomFor('b')]).toEqual([false, true]);
  buffer.takeAll();
  expect(buffer.hasRoomFor('a')).toBe(true);
});

test('a workspace has at most its bytes, and one entry more', () => {
  const buffer = new FairBuffer(LIMITS);
  expect([99, 40, 1].map((bytes) => buffer.add(entry('a', bytes)))).toEqual([0, 0, 1]);
});

test('in a full buffer, the largest workspace loses its newest entries', () => {
  const buffer = new FairBuffer<ReturnType<typeof entry>>(LIMITS);
  buffer.add(entry('flood', 45, '1'));
  buffer.add(entry('flood', 45, '2'));
  buffer.add(entry('b', 30));
  expect(buffer.add(entry('c', 60))).toBe(1);
  expect(buffer.takeAll()).toEqual([
    ['flood', [entry('flood', 45, '1')]],
    ['b', [entry('b', 30)]],
    ['c', [entry('c', 60)]],
  ]);
});

test('an entry that is larger than the buffer is dropped', () => {
  const buffer = new FairBuffer({ ...LIMITS, bytes: 5 });
  expect(buffer.add(entry('a'))).toBe(1);
  expect(buffer.takeAll()).toEqual([]);
});
