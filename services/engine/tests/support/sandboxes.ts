import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { requires } from '@framelane/test-kit/requires';

type SandboxName = 'bubblewrap' | 'landlock' | 'none';

/** Why a program cannot be started this way on this machine; null if it can. */
function obstacle([program = '', ...args]: string[]): string | null {
  const { error, status, stderr } = spawnSync(program, [...args, 'true'], { encoding: 'utf8' });
  if (error) return `${program} is not installed`;
  return status === 0 ? null : stderr.trim();
}

const LANDLOCK = [
  ...['--no-new-privs', '--landlock-access', 'fs:execute,read-file,read-dir,truncate'],
  ...['--landlock-rule', 'path-beneath:execute,read-file,read-dir:/usr'],
];

/** A Perl script that replaces a setpriv that is too old for Landlock. */
const STAND_IN = join(import.meta.dirname, 'landlocked.pl');

const OBSTACLES = {
  bubblewrap: obstacle([
    ...['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--'],
  ]),
  landlock: obstacle(['setpriv', ...LANDLOCK]),
};

/** The script that replaces setpriv if Landlock works and setpriv is too old for it; else null. */
export const LANDLOCK_STAND_IN =
  OBSTACLES.landlock !== null && obstacle(['perl', STAND_IN, ...LANDLOCK]) === null ? STAND_IN : null;

/**
 * The sandboxes that work on this machine. The others appear as skipped tests.
 *
 * @param standIn whether Landlock also counts if it works with `LANDLOCK_STAND_IN` only
 */
export function workingSandboxes({ standIn = false } = {}): SandboxName[] {
  const working: SandboxName[] = ['none'];
  for (const sandbox of ['bubblewrap', 'landlock'] as const) {
    const standsIn = standIn && sandbox === 'landlock' && LANDLOCK_STAND_IN !== null;
    if (requires(sandbox, standsIn ? null : OBSTACLES[sandbox]).isMet) working.push(sandbox);
  }
  return working;
}
