import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user and group PostgreSQL runs as. */
export type Account = { uid: number; gid: number };

/** The account for a new cluster: ourselves, or, because PostgreSQL refuses to run as root, the user `postgres`. */
export async function accountForNewCluster(): Promise<Account> {
  const self = ownAccount();
  if (self.uid !== 0) return self;
  return (await findUser('postgres')) ?? (await addUser('postgres'));
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

function ownAccount(): Account {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}

async function findUser(name: string): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function addUser(name: string): Promise<Account> {
  await run('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    name,
  ]);
  const added = await findUser(name);
  if (added === undefined) throw new Error(`The user ${name} was added but cannot be found.`);
  return added;
}

/** Whether any user may pass through, and into, this directory (or run this program). */
async function openToEveryone(path: string): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (at === '/') return true;
  }
}
