import { expect, test } from '@jest/globals';
import { MissingCommands } from './missing-commands.ts';

test('commands are lost if they are missing at two counts in a row', () => {
  const missing = new MissingCommands();
  expect([missing.count(5, 2), missing.count(5, 3), missing.count(5, 0)]).toEqual([0, 2, 2]);
  expect([missing.count(5, 5), missing.count(5, 0), missing.count(5, 5)]).toEqual([0, 0, 0]);
});

test('messages of deleted videos and duplicates are no negative number of lost commands', () => {
  const missing = new MissingCommands();
  expect([missing.count(1, 9), missing.count(3, 1), missing.count(3, 1)]).toEqual([0, 0, 2]);
});
