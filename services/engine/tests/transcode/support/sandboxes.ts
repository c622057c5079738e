import { spawnSync } from 'node:child_process';
import { test } from '@jest/globals';

/** Why bubblewrap cannot confine anything on this machine; null when it can. */
function obstacle(): string | null {
  const { error, status, stderr } = spawnSync(
    'bwrap',
    ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--', 'true'],
    { encoding: 'utf8' },
  );
  if (error) return 'bubblewrap is not installed';
  return status === 0 ? null : stderr.trim();
}

const OBSTACLE = obstacle();

export const BUBBLEWRAP_WORKS = OBSTACLE === null;

/** The ways of confining a program that work here; those that do not are to be seen as skipped tests. */
export function workingSandboxes(): ('none' | 'bubblewrap')[] {
  if (BUBBLEWRAP_WORKS) return ['none', 'bubblewrap'];
  test.skip(`bubblewrap cannot be tested on this machine: ${OBSTACLE}`, () => {});
  return ['none'];
}
