import { describe, expect, jest, test } from '@jest/globals';
import { changeTags, forEachLeft, initialProgress, type Progress, readTags, retryProgress } from './bulk.ts';

/** Runs tasks that end when the test says so. */
function start(from: Progress<string>) {
  const running = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const stop = new AbortController();
  const onProgress = jest.fn<(progress: Progress<string>) => void>();
  const ended = forEachLeft(
    from,
    (item) => new Promise<void>((resolve, reject) => running.set(item, { resolve, reject })),
    { signal: stop.signal, onProgress },
  );
  const settle = async (item: string, error?: Error) => {
    const task = running.get(item);
    if (error === undefined) task?.resolve();
    else task?.reject(error);
    await new Promise(setImmediate);
  };
  return { running, settle, stop, ended, last: () => onProgress.mock.lastCall?.[0] };
}

describe('forEachLeft', () => {
  test('performs three tasks at a time, and continues after a failure', async () => {
    const { running, settle, ended, last } = start(initialProgress(['a', 'b', 'c', 'd', 'e']));
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
    const error = new Error('Refused');
    await settle('b', error);
    expect([...running.keys()]).toEqual(['a', 'b', 'c', 'd']);
    expect(last()).toEqual({ done: [], failed: [{ item: 'b', error }], left: ['a', 'c', 'd', 'e'] });
    for (const item of ['a', 'c', 'd', 'e']) await settle(item);
    const result = { done: ['a', 'c', 'd', 'e'], failed: [{ item: 'b', error }], left: [] };
    expect(await ended).toEqual(result);
    expect(last()).toEqual(result);
  });

  test('performs the tasks that failed and those that were not begun', async () => {
    const failed = [{ item: 'b', error: new Error('Refused') }];
    const { running, settle, ended } = start(retryProgress({ done: ['a'], failed, left: ['c'] }));
    expect([...running.keys()]).toEqual(['b', 'c']);
    await settle('b');
    await settle('c');
    expect(await ended).toEqual({ done: ['a', 'b', 'c'], failed: [], left: [] });
  });

  test('begins nothing after a stop, and says what was not begun', async () => {
    const { running, settle, stop, ended, last } = start(initialProgress(['a', 'b', 'c', 'd', 'e']));
    stop.abort();
    for (const item of ['a', 'b', 'c']) await settle(item);
    expect(await ended).toEqual(last());
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
    expect(last()).toEqual({ done: ['a', 'b', 'c'], failed: [], left: ['d', 'e'] });
  });

  test('begins nothing if it was stopped before', async () => {
    const from = initialProgress(['a']);
    const task = jest.fn<() => Promise<void>>();
    const options = { signal: AbortSignal.abort(), onProgress: () => {} };
    expect(await forEachLeft(from, task, options)).toEqual(from);
    expect(task).not.toHaveBeenCalled();
  });
});

test('tags are separated by commas', () => {
  expect(readTags(' a b, c,, a b ,')).toEqual(['a b', 'c']);
});

test.each([
  { tags: ['a'], action: 'add', changed: ['b', 'a'], after: ['a', 'b'] },
  { tags: ['a', 'b'], action: 'add', changed: ['b'], after: undefined },
  { tags: ['a', 'b'], action: 'remove', changed: ['b', 'c'], after: ['a'] },
  { tags: ['a'], action: 'remove', changed: ['A'], after: undefined },
] as const)('$action $changed: $tags becomes $after', ({ tags, action, changed, after }) => {
  expect(changeTags(tags, action, changed)).toEqual(after);
});
