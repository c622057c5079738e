import { spawnSync } from 'node:child_process';
import { test } from '@jest/globals';

type Working = 'bubblewrap' | 'landlock' | 'none';

/** Why a program cannot be started this way on this machine; null when it can. */
function obstacle([program = '', ...args]: string[]): string | null {
  const { error, status, stderr } = spawnSync(program, [...args, 'true'], { encoding: 'utf8' });
  if (error) return `${program} is not installed`;
  return status === 0 ? null : stderr.trim();
}

const OBSTACLES = {
  bubblewrap: obstacle([
    ...['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--'],
  ]),
  landlock: obstacle([
    ...['setpriv', '--no-new-privs', '--landlock-access', 'fs'],
    ...['--landlock-rule', 'path-beneath:execute,read-file,read-dir:/usr'],
  ]),
};

/** The ways of confining a program that work here; those that do not are to be seen as skipped tests. */
export function workingSandboxes(): Working[] {
  const working: Working[] = ['none'];
  for (const sandbox of ['bubblewrap', 'landlock'] as const) {
    if (OBSTACLES[sandbox] === null) working.push(sandbox);
    else test.skip(`${sandbox} cannot be tested on this machine: ${OBSTACLES[sandbox]}`, () => {});
  }
  return working;
}
