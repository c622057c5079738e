import { access, realpath, writeFile } from 'node:fs/promises';
import type { Account } from '@framelane/service-kit/system-account';
import type { Sandbox, TranscodeLimits } from '../transcode-settings.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from './job-folder.ts';
import { seccompFilter } from './seccomp-filter.ts';

/** Where a job's directory appears inside bubblewrap. */
const JOB = '/job';

/** Threads of a sandboxed program, where no other programs of the user count. */
const MAX_THREADS = 4096;

/** Programs a confined one is started through. */
export const CONFINING_PROGRAMS = ['env', 'setsid', 'setpriv', 'nice', 'prlimit'] as const;

type Limits = Pick<TranscodeLimits, 'addressSpaceBytes' | 'cpuSeconds' | 'fileBytes'>;

export type Confinement = {
  sandbox: Exclude<Sandbox, 'auto'>;
  limits: Limits;
  /** The account the program runs as; null for that of the engine. Must be set if the engine is root. */
  account: Account | null;
};

/**
 * Writes a shell script to `path` that starts `program` with the script's arguments, confined:
 *
 * - an empty environment and nothing on standard input;
 * - leader of its own process group, so that all it starts can be ended at once;
 * - killed by the kernel when the engine's main thread ends, however that ends;
 * - low priority, limits on memory, CPU time and the size of a file, no core dumps;
 * - no capabilities, no new privileges, and never root;
 * - with bubblewrap or Landlock also: no network, no other process, and no file but programs and libraries, the job's
 *   source to read and the job's output to write. The job's directory must be the working directory.
 *
 * Throws an Error where a sandbox needs a seccomp filter and there is none for the architecture.
 */
export async function writeLaunchScript(
  path: string,
  program: string,
  { sandbox, limits, account }: Confinement,
): Promise<void> {
  const filterPath = `${path}.seccomp`;
  if (sandbox !== 'none') await writeFile(filterPath, requiredFilter());
  const command = [
    ...['exec', 'env', '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'LC_ALL=C'],
    'setsid',
    ...['nice', '-n', '10'],
    ...['prlimit', `--as=${limits.addressSpaceBytes}`, `--cpu=${limits.cpuSeconds}`],
    ...[`--fsize=${limits.fileBytes}`, '--core=0'],
    ...(await confining(sandbox, [program, await realpath(program)], account, filterPath)),
    quoted(program),
    ...['"$@"', '</dev/null'],
    ...(sandbox === 'bubblewrap' ? [`${FILTER_DESCRIPTOR}<${quoted(filterPath)}`] : []),
  ];
  await writeFile(path, `#!/bin/sh\n${command.join(' ')}\n`, { mode: 0o700 });
}

const FILTER_DESCRIPTOR = 9;

const SETPRIV = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs'];
const WITHOUT_CAPABILITIES = ['--inh-caps=-all', '--ambient-caps=-all'];

/** @param programPaths the program's path as it is called, and without links */
async function confining(
  sandbox: Confinement['sandbox'],
  programPaths: readonly string[],
  account: Account | null,
  filterPath: string,
): Promise<string[]> {
  const changed = account ? changedTo(account) : [];
  // Only where no other programs of the same user count.
  const threads = ['prlimit', `--nproc=${MAX_THREADS}`];
  // Whole applications and their settings may be there.
  const folders = programPaths.some((path) => path.startsWith('/opt/')) ? ['/usr', '/opt'] : ['/usr'];
  if (sandbox === 'bubblewrap') {
    return [
      ...SETPRIV,
      ...bubblewrap(folders, account !== null),
      ...(account ? ['setpriv', ...WITHOUT_CAPABILITIES, ...changed] : []),
      ...threads,
    ];
  }
  const landlocked = sandbox === 'landlock' ? await landlock(folders, filterPath) : [];
  return [...SETPRIV, ...WITHOUT_CAPABILITIES, ...changed, ...landlocked, ...(account ? threads : [])];
}

function changedTo({ uid, gid }: Account): string[] {
  return [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--bounding-set=-all'];
}

/** What bubblewrap and Landlock show of the system besides programs and libraries. */
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/fonts'];

/**
 * Started by root, bubblewrap makes no user namespace, which machines may forbid, and keeps the capabilities that a change
 * of the account takes.
 */
function bubblewrap(folders: readonly string[], asRoot: boolean): string[] {
  const links = ['bin', 'sbin', 'lib', 'lib64'].map((name) => `--symlink usr/${name} /${name}`);
  const kept = ['SETUID', 'SETGID', 'SETPCAP'].map((name) => `--cap-add CAP_${name}`);
  const namespaces = asRoot
    ? ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
    : ['--unshare-all'];
  return [
    ...['bwrap', ...namespaces, ...(asRoot ? ['--cap-drop ALL', ...kept] : []), '--die-with-parent'],
    ...folders.map((path) => `--ro-bind ${path} ${path}`),
    ...links,
    // Made implicitly, it would be closed to all but root.
    ...['--dir', '/etc'],
    ...SYSTEM_FILES.map((path) => `--ro-bind-try ${path} ${path}`),
    ...['--proc', '/proc', '--dev', '/dev', '--dir', '/tmp', '--dir', JOB],
    `--ro-bind-try "$PWD/${SOURCE_FOLDER}" ${JOB}/${SOURCE_FOLDER}`,
    `--bind-try "$PWD/${OUTPUT_FOLDER}" ${JOB}/${OUTPUT_FOLDER}`,
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', JOB],
    ...['--seccomp', String(FILTER_DESCRIPTOR), '--'],
  ];
}

/**
 * All rights of Landlock's third version (Linux 6.2), by name: setpriv fails on a kernel that lacks one of them. Before it,
 * files could be truncated without the right to write.
 */
const LANDLOCK_RIGHTS = [
  ...['execute', 'write-file', 'read-file', 'read-dir', 'remove-dir', 'remove-file', 'make-char', 'make-dir'],
  ...['make-reg', 'make-sock', 'make-fifo', 'make-block', 'make-sym', 'refer', 'truncate'],
];

async function landlock(folders: readonly string[], filterPath: string): Promise<string[]> {
  const present = await Promise.all(SYSTEM_FILES.map(exists));
  const rule = (rights: string, path: string) => `--landlock-rule path-beneath:${rights}:${path}`;
  const inJob = (rights: string, folder: string) => `$([ -d ${folder} ] && echo ${rule(rights, folder)})`;
  return [
    ...['--landlock-access', `fs:${LANDLOCK_RIGHTS.join(',')}`],
    ...folders.map((path) => rule('execute,read-file,read-dir', path)),
    ...SYSTEM_FILES.filter((_, at) => present[at]).map((path) => rule('read-file', path)),
    rule('read-file,write-file', '/dev/null'),
    rule('read-file', '/dev/urandom'),
    inJob('read-file,read-dir', SOURCE_FOLDER),
    inJob('read-file,read-dir,write-file,truncate,make-reg,remove-file', OUTPUT_FOLDER),
    ...['--seccomp-filter', quoted(filterPath)],
  ];
}

function requiredFilter(): Buffer {
  const filter = seccompFilter(process.arch);
  if (!filter) throw new Error(`There is no seccomp filter for ${process.arch}.`);
  return filter;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
