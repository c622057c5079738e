import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../bootstrap/project.js';
import { LONGEST_FAULTS } from './fault-sequencer.js';
import { LONGEST_INTEGRATION_TESTS } from './integration-sequencer.js';
import { LongestFirst } from './longest-first.js';

test('listed files come first, in the order of the list, and others keep their order', () => {
  const paths = ['/a/z.test.ts', '/a/late-b.test.ts', '/a/c.test.ts', '/a/b.test.ts', '/b/a.test.ts'];
  const sorted = new LongestFirst(['a/b', 'c']).sort(paths.map((path) => ({ path })));
  expect(sorted.map(({ path }) => path)).toEqual([
    '/a/b.test.ts',
    '/a/c.test.ts',
    '/a/z.test.ts',
    '/a/late-b.test.ts',
    '/b/a.test.ts',
  ]);
});

test.each([
  ['fault suite', LONGEST_FAULTS, 'packages/faults/tests/**/*.faults.ts'],
  ['integration tests', LONGEST_INTEGRATION_TESTS, '{packages,services}/*/tests/**/*.test.ts'],
])('each name in the order of the %s is that of one file', (_, names, pattern) => {
  const files = globSync(pattern, { cwd: ROOT }).map((file) => join(ROOT, file));
  const found = names.map((name) => files.filter((file) => file.includes(`/${name}.`)).length);
  expect(found).toEqual(names.map(() => 1));
});
