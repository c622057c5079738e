import { expect, test } from '@jest/globals';
import { History } from './history.ts';

const FIRST = 'vid_01m7y5g5zqfqetgq1je8rn7s3t';
const SECOND = 'vid_01m7y5g5zqfqetgq1je8rn7s4t';

function historyOf(...events: [who: string, what: string][]): History {
  let now = 3_723_000;
  const history = new History(() => {
    now += 4;
    return now;
  });
  for (const [who, what] of events) history.say(who, what);
  return history;
}

test('a line has the virtual time, who did it, and numbers in place of ids', () => {
  const { lines } = historyOf(['engine-1', `plans ${SECOND}`], ['client-1', `sees ${FIRST} and ${SECOND}`]);
  expect(lines).toEqual([
    '1:02:03.004 engine-1   plans vid-1',
    '1:02:03.008 client-1   sees vid-2 and vid-1',
  ]);
});

test('the digest depends on the events and their order, and not on the ids', () => {
  const one = historyOf(['a', FIRST], ['b', 'x']).digest();
  expect(historyOf(['a', SECOND], ['b', 'x']).digest()).toBe(one);
  expect(historyOf(['b', 'x'], ['a', FIRST]).digest()).not.toBe(one);
});

test('a mark is part of the digest, and no line', () => {
  const history = historyOf();
  const before = history.digest();
  history.mark('store', 'put');
  expect(history.lines).toEqual([]);
  expect(history.events).toBe(1);
  expect(history.digest()).not.toBe(before);
});
