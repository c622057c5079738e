import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { RULES } from './rules.ts';

test('the README has a line for every rule, with its level and source', async () => {
  const text = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| `[\w-]+\./.test(line));
  expect(rows).toEqual(
    RULES.map(({ id, level, source, sentence }) => `| \`${id}\` | ${level} | ${sentence} | ${source} |`),
  );
});
