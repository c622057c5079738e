import { expect, test } from '@jest/globals';
import { rateLimited, WindowCounter } from './window-counter.ts';

function counterWithClock(names = 10) {
  const clock = { ms: 5000 };
  return { clock, counter: new WindowCounter({ seconds: 60, names }, () => clock.ms) };
}

test('counts each name separately', () => {
  const { counter } = counterWithClock();
  counter.add('a');
  expect(counter.add('a')).toEqual({ count: 2, secondsLeft: 60 });
  expect(counter.add('b').count).toBe(1);
  expect(counter.get('a').count).toBe(2);
  expect(counter.get('c').count).toBe(0);
});

test('a window ends 60 s after its first count, also when more are added', () => {
  const { clock, counter } = counterWithClock();
  counter.add('a');
  clock.ms += 59_001;
  expect(counter.add('a')).toEqual({ count: 2, secondsLeft: 1 });
  clock.ms += 1_000;
  expect(counter.add('a')).toEqual({ count: 1, secondsLeft: 60 });
});

test('holds a limited number of names, and drops the least recently used one', () => {
  const { counter } = counterWithClock(2);
  counter.add('a');
  counter.add('b');
  counter.add('a');
  counter.add('c');
  expect([counter.get('a').count, counter.get('b').count, counter.get('c').count]).toEqual([2, 0, 1]);
});

test('the error beyond a limit says when to retry', () => {
  expect(rateLimited('Too many.', 7)).toMatchObject({
    code: 'rate_limited',
    message: 'Too many. Retry in 7 s.',
    options: { headers: { 'Retry-After': '7' } },
  });
});
