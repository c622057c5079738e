import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { GROUPS } from './groups.js';

const ROOT = join(import.meta.dirname, '..', '..');

test.each(GROUPS)('all files of $name exist', ({ mutate, tests }) => {
  const patterns = [...mutate, ...tests].flatMap(alternatives);
  expect(patterns.filter((pattern) => files(pattern).length === 0)).toEqual([]);
});

test('every store, service, and module with a unit test beside it of both services is in a group, except routes', () => {
  const changed = new Set(
    GROUPS.flatMap(({ mutate }) => mutate.flatMap(alternatives)).flatMap((pattern) => files(pattern)),
  );
  const expected = ['control-plane', 'engine']
    .flatMap((service) => files(`services/${service}/src/**/*.ts`))
    .filter((file) => !/\.(test|routes)\.ts$|\/(process-group|orphans)\.ts$/.test(file))
    .filter((file) => /\.(store|service)\.ts$/.test(file) || existsSync(file.replace(/\.ts$/, '.test.ts')));
  expect(expected.length).toBeGreaterThan(100);
  expect(expected.filter((file) => !changed.has(file))).toEqual([]);
});

const files = (pattern) => globSync(pattern, { cwd: ROOT }).map((file) => join(ROOT, file));

/** `a.{b,c}` → `a.b` and `a.c`: the pattern with braces also matches if only one of the files exists. */
function alternatives(pattern) {
  const [braces, list] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined) return [pattern];
  return list.split(',').flatMap((part) => alternatives(pattern.replace(braces, part)));
}
