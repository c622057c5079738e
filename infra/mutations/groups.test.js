import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { GROUPS } from './groups.js';

const ROOT = join(import.meta.dirname, '..', '..');

test.each(GROUPS)('all files of $name exist', ({ mutate, tests }) => {
  const missing = [...mutate, ...tests].filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0);
  expect(missing).toEqual([]);
});
