import { expect, test } from '@jest/globals';
import { type Action, type Item, nextToStart, percentOf, reduce, summaryOf, titleOf } from './queue.ts';

const FILES = [1, 2, 3, 4, 5].map((id) => ({ id, name: `${id}.mp4`, size: 1000 }));

function queueAfter(...actions: Action[]): readonly Item[] {
  return actions.reduce(reduce, reduce([], { type: 'added', items: FILES }));
}

const waiting = (items: readonly Item[]) => nextToStart(items).map(({ id }) => id);

test('three files are sent at once, in their order', () => {
  expect(waiting(queueAfter())).toEqual([1, 2, 3]);
  expect(waiting(queueAfter({ type: 'started', id: 1 }, { type: 'started', id: 2 }))).toEqual([3]);
  const full = queueAfter(...[1, 2, 3].map((id): Action => ({ type: 'started', id })));
  expect(waiting(full)).toEqual([]);
  expect(waiting(reduce(full, { type: 'sent', id: 2 }))).toEqual([4]);
  expect(waiting(reduce(full, { type: 'failed', id: 2, error: 'x' }))).toEqual([4]);
  expect(waiting(reduce(full, { type: 'removed', id: 2 }))).toEqual([4]);
});

test('a failed file keeps its video and can be retried', () => {
  const failed = queueAfter(
    { type: 'started', id: 1 },
    { type: 'ticket', id: 1, videoId: 'vid_1' },
    { type: 'failed', id: 1, error: 'lost' },
  );
  expect(failed[0]).toMatchObject({ state: 'failed', error: 'lost', videoId: 'vid_1' });
  const retried = reduce(failed, { type: 'retried', id: 1 });
  expect(retried[0]).toMatchObject({ state: 'waiting', error: undefined, videoId: 'vid_1' });
});

test('the percentage is 100 only when the file has arrived', () => {
  const [item] = queueAfter({ type: 'progress', id: 1, sent: 1000 }) as [Item];
  expect(percentOf(item)).toBe(99);
  const [sent] = reduce([item], { type: 'sent', id: 1 }) as [Item];
  expect(percentOf(sent)).toBe(100);
  expect(percentOf({ ...item, size: 0, sent: 0 })).toBe(0);
});

test('clearing removes what has arrived and nothing else', () => {
  const cleared = queueAfter(
    { type: 'sent', id: 1 },
    { type: 'failed', id: 2, error: 'x' },
    { type: 'cleared' },
  );
  expect(cleared.map(({ id }) => id)).toEqual([2, 3, 4, 5]);
});

test('an action for a file that was removed changes nothing', () => {
  const removed = queueAfter({ type: 'removed', id: 1 });
  expect(reduce(removed, { type: 'progress', id: 1, sent: 5 })).toEqual(removed);
});

test('the title is the name without the extension', () => {
  expect(['a.b.mp4', 'clip', '.mp4', 'ü ß.mov'].map(titleOf)).toEqual(['a.b', 'clip', '.mp4', 'ü ß']);
});

test('the summary counts', () => {
  expect(summaryOf([])).toBe('');
  expect(summaryOf(queueAfter({ type: 'sent', id: 1 }, { type: 'failed', id: 2, error: 'x' }))).toBe(
    '1 of 5 uploaded, 1 failed',
  );
});
