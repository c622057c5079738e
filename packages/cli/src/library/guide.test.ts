import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Host } from '../host.ts';
import { EXIT } from '../output.ts';
import { runCli } from '../program.ts';

const guide = await readFile(join(import.meta.dirname, '../../../../docs/moving.md'), 'utf8');
const lines = [...guide.matchAll(/```sh\n(.*?)```/gs)]
  .flatMap(([, block = '']) => block.split('\n'))
  .filter((line) => line.startsWith('framelane '));

/** A host without a sign-in: a command with valid arguments ends there. */
function signedOut(): Host & { errors: string[] } {
  const errors: string[] = [];
  return {
    errors,
    env: { HOME: '/nonexistent' },
    stdin: Readable.from([]),
    write: () => {},
    writeError: (text) => void errors.push(text),
    isTerminal: false,
    columns: () => 80,
    signal: AbortSignal.timeout(60_000),
  };
}

test('the guide has a line for each command', () => {
  expect(lines.length).toBeGreaterThan(10);
});

test.each(lines)('%s has valid arguments', async (line) => {
  const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
  const host = signedOut();
  expect(await runCli(args.slice(1), host)).toBe(EXIT.failure);
  expect(host.errors.join('')).toContain('You are not signed in');
});
