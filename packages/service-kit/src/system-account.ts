import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SettingsError } from './settings.ts';

const run = promisify(execFile);

/** A user of the operating system and its group. */
export type Account = { uid: number; gid: number };

/** The account of this process. */
export function ownAccount(): Account {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}

/**
 * The account of a system user, which is created if it is missing. Only root can create it. If that fails, throws a
 * SettingsError with the command to run.
 */
export async function ensureSystemAccount(name: string): Promise<Account> {
  const existing = await findAccount(name);
  if (existing) return existing;
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name];
  // Not fatal: another process may create the user at the same time.
  const failure = await run('useradd', args).then(
    () => undefined,
    (error: Error) => error,
  );
  const added = await findAccount(name);
  if (added) return added;
  throw new SettingsError(
    `The user ${name} is missing and could not be created. Run this as root: useradd ${args.join(' ')}`,
    { cause: failure },
  );
}

async function findAccount(name: string): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}
