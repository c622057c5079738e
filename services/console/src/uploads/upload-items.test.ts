import { expect, test } from '@jest/globals';
import {
  type Action,
  activeFirst,
  type Item,
  isActive,
  isOver,
  isSoundFile,
  nextToStart,
  paceOf,
  percentOf,
  reduce,
  summaryOf,
  titleOf,
} from './upload-items.ts';

const FILES = [1, 2, 3, 4, 5].map((id) => ({ id, name: `${id}.mp4`, size: 1000 }));

function queueAfter(...actions: Action[]): readonly Item[] {
  return actions.reduce(reduce, reduce([], { type: 'added', items: FILES }));
}

const startable = (items: readonly Item[]) => nextToStart(items).map(({ id }) => id);

test('three files are sent at once, in their order', () => {
  expect(startable(queueAfter())).toEqual([1, 2, 3]);
  expect(startable(queueAfter({ type: 'started', id: 1 }, { type: 'started', id: 2 }))).toEqual([3]);
  const full = queueAfter(...[1, 2, 3].map((id): Action => ({ type: 'started', id })));
  expect(startable(full)).toEqual([]);
  expect(startable(reduce(full, { type: 'sent', id: 2 }))).toEqual([4]);
  expect(startable(reduce(full, { type: 'failed', id: 2, error: 'x' }))).toEqual([4]);
  expect(startable(reduce(full, { type: 'removed', ids: [2] }))).toEqual([4]);
});

test('what has arrived is shown last, each part in its order', () => {
  const items = queueAfter(
    { type: 'started', id: 1 },
    { type: 'sent', id: 1 },
    { type: 'started', id: 3 },
    { type: 'sent', id: 3 },
    { type: 'failed', id: 2, error: 'lost' },
  );
  expect(activeFirst(items).map(({ id }) => id)).toEqual([2, 4, 5, 1, 3]);
  expect(activeFirst(reduce(items, { type: 'started', id: 5 })).map(({ id }) => id)).toEqual([5, 2, 4, 1, 3]);
});

test('a failed file keeps its video and can be retried', () => {
  const failed = queueAfter(
    { type: 'started', id: 1 },
    { type: 'ticket', id: 1, videoId: 'vid_1' },
    { type: 'failed', id: 1, error: 'lost' },
  );
  expect(failed[0]).toMatchObject({ state: 'failed', error: 'lost', videoId: 'vid_1' });
  const retried = reduce(failed, { type: 'resumed', id: 1 });
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
  const removed = queueAfter({ type: 'removed', ids: [1] });
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

test('a file whose video failed afterwards counts as uploaded and as failed, until a retry', () => {
  const failed = queueAfter({ type: 'sent', id: 1 }, { type: 'processed', id: 1, hasFailed: true });
  expect(summaryOf(failed)).toBe('1 of 5 uploaded, 1 failed');
  expect(failed.filter(isOver)).toHaveLength(1);
  expect(activeFirst(failed)[0]?.id).toBe(1);
  expect(summaryOf(reduce(failed, { type: 'processed', id: 1, hasFailed: false }))).toBe('1 of 5 uploaded');
});

const states = (items: readonly Item[]) => items.map(({ state }) => state);

test('only a waiting or sending file can be paused; the next file takes its slot', () => {
  const begun = queueAfter(...[1, 2, 3].map((id): Action => ({ type: 'started', id })), {
    type: 'sent',
    id: 3,
  });
  const paused = reduce(reduce(begun, { type: 'paused', id: 1 }), { type: 'paused', id: 3 });
  expect(states(paused)).toEqual(['paused', 'sending', 'sent', 'waiting', 'waiting']);
  expect(startable(paused)).toEqual([4, 5]);
  const allPaused = reduce(paused, { type: 'all-paused' });
  expect(states(allPaused)).toEqual(['paused', 'paused', 'sent', 'paused', 'paused']);
  expect(startable(allPaused)).toEqual([]);
  expect(startable(reduce(allPaused, { type: 'all-resumed', from: 'paused' }))).toEqual([1, 2, 4]);
});

test('all failed files return to waiting, and their errors are cleared', () => {
  const failed = [1, 2].map((id): Action => ({ type: 'failed', id, error: 'x' }));
  const retried = reduce(queueAfter(...failed, { type: 'paused', id: 3 }), {
    type: 'all-resumed',
    from: 'failed',
  });
  expect(states(retried)).toEqual(['waiting', 'waiting', 'paused', 'waiting', 'waiting']);
  expect(retried.map(({ error }) => error)).not.toContain('x');
});

test('the speed is measured between ticks; bytes that arrived before the start do not count', () => {
  const tick: Action = { type: 'ticked', seconds: 2 };
  const sentAfter = (sent: number): Action[] => [{ type: 'progress', id: 1, sent }, tick];
  const first = queueAfter({ type: 'started', id: 1 }, ...sentAfter(500));
  expect(paceOf(first)).toEqual({ speed: 0, secondsLeft: undefined });
  const second = sentAfter(700).reduce(reduce, first);
  expect(paceOf(second)).toEqual({ speed: 100, secondsLeft: 43 });
  const lost = sentAfter(600).reduce(reduce, second);
  expect(paceOf(lost).speed).toBe(70);
  const stalled = Array.from({ length: 20 }, () => tick).reduce(reduce, lost);
  expect(paceOf(stalled).secondsLeft).toBeUndefined();
  expect(paceOf(reduce(second, { type: 'paused', id: 1 })).speed).toBe(0);
});

test('an unfinished upload stays unfinished until its file is chosen again, then it is waiting', () => {
  const found = queueAfter({
    type: 'found',
    items: [{ id: 9, name: '9.mp4', size: 10, sent: 4, videoId: 'vid_9' }],
  });
  expect(found.at(-1)).toMatchObject({ state: 'unfinished', sent: 4, videoId: 'vid_9' });
  expect(startable(found)).toEqual([1, 2, 3]);
  const refused = reduce(found, { type: 'refused', id: 9, reason: 'other-file' });
  expect(refused.at(-1)).toMatchObject({ state: 'unfinished', reason: 'other-file' });
  const resumed = reduce(refused, { type: 'resumed', id: 9 });
  expect(resumed.at(-1)).toMatchObject({ state: 'waiting', reason: undefined, sent: 4 });
  const ended = reduce(found, { type: 'ended', id: 9, reason: 'expired' });
  expect(summaryOf(found)).toBe('0 of 6 uploaded, 1 unfinished');
  expect(summaryOf(reduce(ended, { type: 'paused', id: 1 }))).toBe('0 of 6 uploaded, 1 paused, 1 failed');
});

test('files of sound are known by their names', () => {
  expect(['a.mp3', 'b.M4A', 'c.flac', 'd.aiff'].filter(isSoundFile)).toHaveLength(4);
  expect(['a.mp4', 'mp3', 'b.mp3.mov', 'c.ogg'].filter(isSoundFile)).toEqual([]);
});

test('a file is active until somebody has to choose or nothing is left to do', () => {
  const states = ['waiting', 'sending', 'paused', 'sent', 'failed', 'unfinished', 'ended'] as const;
  const items = states.map((state, id): Item => ({ id, name: '', size: 1, sent: 0, state }));
  expect(items.filter(isActive).map(({ state }) => state)).toEqual(['waiting', 'sending', 'failed']);
  expect(items.filter(isOver).map(({ state }) => state)).toEqual(['sent', 'ended']);
  expect(reduce(items, { type: 'cleared' }).some(isOver)).toBe(false);
});
