import { expect, test } from '@jest/globals';
import { isDeeperThan, requireFlatJson } from './json-depth.ts';

test.each([
  ['no body', undefined, 0],
  ['null', null, 0],
  ['a string', 'x', 0],
  ['an empty object', {}, 1],
  ['a flat object', { a: 1, b: 'x' }, 1],
  ['an array in an object', { a: [1, 2] }, 2],
  ['an array whose members differ in depth', [1, { a: {} }, [[[]]]], 4],
  ['a member named __proto__', JSON.parse('{"__proto__":{"a":{}}}'), 3],
])('the depth of %s', (_, value, depth) => {
  expect(isDeeperThan(depth, value)).toBe(false);
  if (depth > 0) expect(isDeeperThan(depth - 1, value)).toBe(true);
});

test('130,000 levels do not overflow the stack', () => {
  const value = JSON.parse(`${'['.repeat(130_000)}${']'.repeat(130_000)}`);
  expect(isDeeperThan(20, value)).toBe(true);
});

test.each([
  [20, 'accepted', undefined],
  [21, 'refused', expect.objectContaining({ code: 'json_too_deep' })],
])('a body with %d levels is %s', (depth, _, problem) => {
  const body = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  let thrown: unknown;
  try {
    requireFlatJson(body);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toEqual(problem);
});
