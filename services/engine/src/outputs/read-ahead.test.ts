import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { readAhead } from './read-ahead.ts';

const MIB = 1024 ** 2;

/** Items of these sizes, and fetches that end when they are told to. */
function fetches(sizes: readonly number[]) {
  const begun: number[] = [];
  const aborted: number[] = [];
  const ends = sizes.map(() => Promise.withResolvers<string>());
  const items = sizes.map((bytes, at) => ({ at, bytes }));
  const fetch = ({ at }: { at: number }, signal: AbortSignal) => {
    begun.push(at);
    signal.addEventListener('abort', () => {
      aborted.push(at);
      ends[at]?.reject(new Error('Aborted'));
    });
    return ends[at]?.promise ?? Promise.reject(new Error('No such item'));
  };
  const finish = (at: number) => ends[at]?.resolve(`item ${at}`);
  const fail = (at: number) => ends[at]?.reject(new Error(`item ${at} failed`));
  return { items, fetch, begun, aborted, finish, fail };
}

const never = new AbortController().signal;

describe('reading ahead', () => {
  test('yields all items in their order, whatever ends first', async () => {
    const { items, fetch, finish } = fetches([1, 1, 1, 1, 1, 1, 1]);
    for (const at of [6, 2, 1, 0, 5, 3, 4]) finish(at);
    const found = await Array.fromAsync(readAhead(items, fetch, never));
    expect(found).toEqual(items.map(({ at }) => `item ${at}`));
    expect(await Array.fromAsync(readAhead([], fetch, never))).toEqual([]);
  });

  test('fetches the next four while one is used', async () => {
    const { items, fetch, begun, finish } = fetches(Array(10).fill(1));
    const reader = readAhead(items, fetch, never);
    finish(0);
    await reader.next();
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    finish(1);
    await reader.next();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    await reader.return();
  });

  test('holds at most 32 MiB, or one item', async () => {
    const { items, fetch, begun, finish } = fetches([20 * MIB, 10 * MIB, 5 * MIB, 50 * MIB, 1]);
    const reader = readAhead(items, fetch, never);
    finish(0);
    await reader.next();
    expect(begun).toEqual([0, 1]);
    finish(1);
    await reader.next();
    expect(begun).toEqual([0, 1, 2]);
    finish(2);
    await reader.next();
    expect(begun).toEqual([0, 1, 2]);
    finish(3);
    await reader.next();
    expect(begun).toEqual([0, 1, 2, 3]);
    await reader.return();
  });

  test('fails in the turn of the item that failed, and aborts those after it', async () => {
    const { items, fetch, aborted, finish, fail } = fetches([1, 1, 1, 1]);
    const reader = readAhead(items, fetch, never);
    finish(0);
    fail(1);
    expect(await reader.next()).toEqual({ done: false, value: 'item 0' });
    await expect(reader.next()).rejects.toThrow('item 1 failed');
    expect(aborted).toEqual([0, 1, 2, 3]);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test('ends with the signal', async () => {
    const { items, fetch, aborted } = fetches([1, 1]);
    const stopping = new AbortController();
    const next = readAhead(items, fetch, stopping.signal).next();
    await setImmediate();
    stopping.abort();
    await expect(next).rejects.toThrow('Aborted');
    expect(aborted).toEqual([0, 1]);
  });
});
