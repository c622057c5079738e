import { chmod } from 'node:fs/promises';
import { findProgram } from '@framelane/test-kit/browser';
import { requires } from '@framelane/test-kit/requires';
import { runProgram } from '@framelane/test-kit/run-program';

/** The `test` for a program, which is skipped if it is not installed. */
export function withProgram(name: string): ReturnType<typeof requires>['test'] {
  return requires(name, findProgram(name) === undefined ? `${name} is not installed` : null).test;
}

/** Runs VLC without a window until it has played, and resolves with its log. It can write to `directory`. */
export async function runVlc(directory: string, args: readonly string[]): Promise<string> {
  await chmod(directory, 0o777);
  const command = ['cvlc', '-vv', '--intf=dummy', ...args, 'vlc://quit'];
  // VLC refuses to run as root.
  const unprivileged = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
  const [program = '', ...rest] = [...unprivileged, ...command];
  const { stderr } = await runProgram(program, rest, { env: { HOME: directory } });
  return stderr;
}
