import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { GROUPS } from './groups.js';

const ROOT = join(import.meta.dirname, '..', '..');

test.each(GROUPS)('all files of $name exist', ({ mutate, tests }) => {
  const patterns = [...mutate, ...tests].flatMap(alternatives);
  expect(patterns.filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0)).toEqual([]);
});

/** `a.{b,c}` → `a.b` and `a.c`: the pattern with braces also matches if only one of the files exists. */
function alternatives(pattern) {
  const [braces, list] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined) return [pattern];
  return list.split(',').flatMap((part) => alternatives(pattern.replace(braces, part)));
}
