import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { StartedProgram } from './started-program.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-program-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function start(source: string): Promise<StartedProgram> {
  await writeFile(join(directory, 'program.mjs'), source);
  return new StartedProgram(directory, 'program.mjs', { GREETING: 'hello' });
}

test('the wait for output ends when it matches, and the program can be stopped', async () => {
  const program = await start('console.log(process.env.GREETING); setInterval(() => {}, 60_000);');
  expect((await program.waitForOutput(/h(.*)o/))[1]).toBe('ell');
  await program.stop();
});

test('the wait for output fails when the program exits, and the program can still be stopped', async () => {
  const program = await start('console.error("no such setting");');
  await expect(program.waitForOutput(/ready/)).rejects.toThrow(
    'The program exited without /ready/. no such setting',
  );
  await program.stop();
});
