import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CHART } from './kustomize-base.js';
import { tableOf, withTable } from './values-table.js';

test('the README of the chart has the table of all values that `pnpm manifests` writes', () => {
  const [readme, values] = ['README.md', 'values.yaml'].map((name) =>
    readFileSync(join(CHART, name), 'utf8'),
  );
  expect(withTable(readme, values)).toBe(readme);
});

test('a row for each value, with its default and the comment above it', () => {
  const values = [
    '# About the file.',
    '',
    '# The first.',
    'a: ""',
    '',
    'b:',
    '  # On two',
    '  # lines.',
    '  c: 1',
    '  d:',
    '    # With a | in it.',
    '    e: []',
    '# All together.',
    'f:',
    '  g: true',
  ];
  expect(tableOf(values.join('\n')).split('\n').slice(2, -1)).toEqual([
    '| `a` | `""` | The first. |',
    '| `b.c` | `1` | On two lines. |',
    '| `b.d.e` | `[]` | With a \\| in it. |',
    '| `f` | `{"g":true}` | All together. |',
  ]);
});

test('a value without a comment is an error', () => {
  expect(() => tableOf('# One.\na: 1\nb: 2\n')).toThrow('no comment above b');
});
