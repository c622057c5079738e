import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { clusterOptions } from './postmaster.ts';
import { programCommand, runsIn } from './programs.ts';

/**
 * Runs statements as the superuser in PostgreSQL's single-user mode, in the database `name` of a cluster on which no server runs. Rejects
 * with what PostgreSQL logs if one fails.
 */
export async function asSuperuser(
  directory: string,
  name: string,
  statements: readonly string[],
  { ignoreErrors = false } = {},
): Promise<void> {
  const { uid, gid } = await stat(directory);
  const [command, ...args] = await programCommand('postgres', { uid, gid });
  // The log must not contain statements, because one has the password.
  const settings = ['log_min_error_statement=panic', `exit_on_error=${ignoreErrors ? 'off' : 'on'}`];
  const options = settings.flatMap((setting) => ['-c', setting]);
  const running = promisify(execFile)(
    command,
    [...args, '--single', ...clusterOptions(directory), '-j', ...options, name],
    runsIn(directory),
  );
  // An early exit of PostgreSQL breaks the pipe. `running` rejects then.
  running.child.stdin?.on('error', () => {});
  // With -j, a semicolon and an empty line end a statement.
  running.child.stdin?.end(statements.map((statement) => `${statement};\n\n`).join(''));
  await running;
}
