import { expect, test } from '@jest/globals';
import { slowHolders } from './slow-holder.ts';

const holder = (workspaceId: string, bytesPerSecond: number | null) => ({ workspaceId, bytesPerSecond });
const [slow, slower, young, fast] = [holder('a', 9), holder('a', 5), holder('a', null), holder('a', 10)];
const slowest = holder('b', 1);

test.each([
  ['nobody if all are fast enough or too young', [fast, young], undefined],
  ['the slowest', [slow, slower, fast], slower],
  ['one of the workspace that holds the most slots', [slowest, slow, fast], slow],
  ['the slowest of workspaces that hold equally many', [slowest, slow], slowest],
])('a slot is given up by %s', (_, holders, expected) => {
  expect(slowHolders(holders, 10)[0]).toBe(expected);
});
