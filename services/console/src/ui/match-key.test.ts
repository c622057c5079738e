import { expect, test } from '@jest/globals';
import { matchKey } from './match-key.ts';

const SHORTCUTS = ['g v', 'g k', 'j', '/'].map((keys) => ({ keys, words: keys }));

/** The shortcuts that a sequence of keys finds. */
function press(...keys: string[]): string[] {
  let pending = '';
  return keys.flatMap((key) => {
    const match = matchKey(pending, key, SHORTCUTS);
    pending = match.pending;
    return match.found?.keys ?? [];
  });
}

test.each([
  { keys: ['j'], found: ['j'] },
  { keys: ['g', 'v'], found: ['g v'] },
  { keys: ['v'], found: [] },
  { keys: ['g', 'j', 'v'], found: ['j'] },
  { keys: ['g', 'g', 'k'], found: ['g k'] },
  { keys: ['g', 'x', 'v'], found: [] },
  { keys: ['J', '/'], found: ['/'] },
])('$keys finds $found', ({ keys, found }) => {
  expect(press(...keys)).toEqual(found);
});
