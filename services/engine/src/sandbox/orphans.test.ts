import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { killOrphans } from './orphans.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orphans-'));
  await mkdir(join(folder, 'jobs'));
  await symlink(join(folder, 'jobs'), join(folder, 'link'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a process with this command line that waits for its input, as bubblewrap waits when its monitor was killed. */
async function start(program: string, argument: string) {
  const child = spawn('sh', ['-c', 'echo; read input', 'sh', argument], { argv0: program, stdio: 'pipe' });
  await once(child.stdout, 'data');
  return child;
}

test('the sandboxes of an earlier engine with the same folder are killed, and no other process', async () => {
  const orphan = await start('bwrap', join(folder, 'jobs/job-1/source'));
  const others = await Promise.all([
    start('bwrap', join(folder, 'jobs-of-another/job-1/source')),
    start('editor', join(folder, 'jobs/job-1/source')),
  ]);
  const ended = once(orphan, 'exit');
  expect(await killOrphans(join(folder, 'link'))).toEqual([orphan.pid]);
  expect(await ended).toEqual([null, 'SIGKILL']);
  for (const other of others) {
    const exited = once(other, 'exit');
    other.stdin.end('go\n');
    expect(await exited).toEqual([0, null]);
  }
});
