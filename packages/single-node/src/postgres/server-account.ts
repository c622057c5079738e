import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Account, ensureSystemAccount, ownAccount } from '@framelane/service-kit/system-account';

/** The account for a new cluster: ourselves, or, because PostgreSQL refuses to run as root, the user `postgres`. */
export async function accountForNewCluster(): Promise<Account> {
  const self = ownAccount();
  return self.uid === 0 ? ensureSystemAccount('postgres') : self;
}

/** The account for an existing cluster: whoever owns its files. */
export async function accountOfCluster(directory: string): Promise<Account> {
  const { uid, gid } = await stat(directory);
  return { uid, gid };
}

/**
 * The `setpriv` command line that runs a PostgreSQL program as this account and ends it (an orderly fast shutdown)
 * when our process dies, however it dies.
 *
 * Where root keeps its files to itself (a clone below /root), no other user gets as far as the programs or the data.
 * There, and only there, the server keeps the one capability that looks past file permissions. `no_setuid_fixup`
 * makes `access(2)`, which initdb asks, see it too.
 */
export async function runAsAccount(account: Account, needs: readonly string[]): Promise<string[]> {
  const command = ['setpriv', '--pdeathsig=INT'];
  if (account.uid === ownAccount().uid) return command;
  command.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups');
  const reachable = await Promise.all(needs.map(openToEveryone));
  if (reachable.every(Boolean)) return command;
  return [
    ...command,
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
}

/** Whether any user may pass through, and into, this directory (or run this program). */
async function openToEveryone(path: string): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (at === '/') return true;
  }
}
