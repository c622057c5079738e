import { access, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Account } from '@framelane/service-kit/system-account';
import type { Sandbox, TranscodeLimits } from '../transcode-settings.ts';
import type { DeviceAccess } from './device-access.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from './job-folder.ts';
import { seccompFilter } from './seccomp-filter.ts';

/** The path of a job's folder inside bubblewrap. */
const JOB = '/job';

/**
 * Maximum number of threads. The kernel counts all threads of a user in a user namespace, so the limit is set only where that user
 * runs nothing but sandboxed programs.
 */
const MAX_THREADS = 4096;

/** Programs that the launch script runs. */
export const LAUNCH_PROGRAMS = ['env', 'setsid', 'setpriv', 'nice', 'prlimit'] as const;

type Limits = Pick<TranscodeLimits, 'addressSpaceBytes' | 'cpuSeconds' | 'fileBytes'>;

export type Confinement = {
  sandbox: Exclude<Sandbox, 'auto'>;
  limits: Limits;
  /** The account the program runs as; null for the engine's own account. Required if the engine is root. */
  account: Account | null;
  /** Files that the program may read and run besides those of its job and of the system. Real paths. */
  readable?: readonly string[];
  /** The devices that the program may use. */
  device?: DeviceAccess | undefined;
  /** How far it stands back for other processes (see nice(1)). */
  niceness?: number;
};

const LOW_PRIORITY = 10;

/** Gets next to nothing while programs of low priority use all processors. */
export const LOWEST_PRIORITY = 19;

const NO_DEVICE: DeviceAccess = { files: [], readable: [], links: [], groups: [] };

/**
 * Writes a launch script to `path`: it runs `program` with the script's arguments, confined as follows.
 *
 * - Its environment has nothing of the engine's (only `PATH`, `LC_ALL` and `PWD`), and its standard input is empty.
 * - It leads its own process group, so that everything it starts can be ended together.
 * - The kernel kills it when the engine's main thread ends for any reason. A sandbox that bubblewrap is still setting up may
 *   survive; the next start of the engine kills it (see orphans.ts).
 * - It has a low priority, limits on memory, CPU time and file size, and dumps no core.
 * - It has no capabilities, cannot gain privileges, and never runs as root.
 * - With bubblewrap or Landlock, it also has no network and no access to other processes. It can read programs, libraries and
 *   the job's source, and write the job's output. Its working directory must be the job's folder.
 *   It can also use the devices in `device`, whose drivers in the kernel no sandbox confines.
 *
 * Only the process `enginePid` can run the script. Throws an Error if the sandbox needs a seccomp filter and none exists for the
 * architecture.
 */
export async function writeLaunchScript(
  path: string,
  program: string,
  { sandbox, limits, account, readable = [], device = NO_DEVICE, niceness = LOW_PRIORITY }: Confinement,
  enginePid = process.pid,
): Promise<void> {
  const filterPath = `${path}.seccomp`;
  if (sandbox !== 'none') await writeFile(filterPath, requiredFilter());
  const command = [
    ...['exec', 'env', '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'LC_ALL=C'],
    'setsid',
    ...['nice', '-n', String(niceness)],
    ...['prlimit', `--as=${bytesOf(limits.addressSpaceBytes)}`, `--cpu=${limits.cpuSeconds}`],
    ...[`--fsize=${limits.fileBytes}`, '--core=0'],
    ...(await confinementCommand(sandbox, {
      programPaths: [program, await realpath(program)],
      account,
      readable,
      device,
      filterPath,
      enginePid,
    })),
    quoted(program),
    ...['"$@"', '</dev/null'],
    ...(sandbox === 'bubblewrap' ? [`${FILTER_DESCRIPTOR}<${quoted(filterPath)}`] : []),
  ];
  await writeFile(path, `#!/bin/sh\n${command.join(' ')}\n`, { mode: 0o700 });
}

/** A limit as prlimit reads it. */
function bytesOf(limit: number): string {
  return Number.isFinite(limit) ? String(limit) : 'unlimited';
}

/** The file descriptor through which bubblewrap reads the seccomp filter. */
const FILTER_DESCRIPTOR = 9;

const SETPRIV = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs'];
const WITHOUT_CAPABILITIES = ['--inh-caps=-all', '--ambient-caps=-all'];

/** @param details.programPaths the path of the program as it is called, and with all links resolved */
async function confinementCommand(
  sandbox: Confinement['sandbox'],
  details: {
    programPaths: readonly string[];
    account: Account | null;
    readable: readonly string[];
    device: DeviceAccess;
    filterPath: string;
    enginePid: number;
  },
): Promise<string[]> {
  const { programPaths, account, readable, device, filterPath, enginePid } = details;
  const asAccount = account ? accountOptions(account, device.groups) : [];
  const threads = ['prlimit', `--nproc=${MAX_THREADS}`];
  // /opt may contain other applications with their settings, so it is visible only if ffmpeg is installed there.
  const folders = programPaths.some((path) => path.startsWith('/opt/')) ? ['/usr', '/opt'] : ['/usr'];
  if (sandbox === 'bubblewrap') {
    return [
      ...[...SETPRIV, ...onlyFor(enginePid)],
      ...bubblewrap(folders, { readable, device, asRoot: account !== null }),
      ...(account ? ['setpriv', ...WITHOUT_CAPABILITIES, ...asAccount] : []),
      ...threads,
    ];
  }
  const landlocked = sandbox === 'landlock' ? await landlock(folders, { readable, device, filterPath }) : [];
  const setpriv = [...SETPRIV, ...WITHOUT_CAPABILITIES, ...asAccount, ...landlocked];
  return [...setpriv, ...onlyFor(enginePid), ...(account ? threads : [])];
}

/** Checks the parent. If the engine ended before setpriv requested the signal, the kernel sends none; the parent is then another process. */
function onlyFor(enginePid: number): string[] {
  const refuse = 'echo "Only the engine that wrote this script can run it." >&2; exit 1';
  return ['sh', '-c', quoted(`[ "$PPID" = ${enginePid} ] || { ${refuse}; }; exec "$@"`), 'sh'];
}

function accountOptions({ uid, gid }: Account, groups: readonly number[]): string[] {
  const others = groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`;
  return [`--reuid=${uid}`, `--regid=${gid}`, others, '--bounding-set=-all'];
}

/** System files that sandboxed programs can read, besides programs and libraries. */
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/fonts'];

/**
 * If the engine is root, bubblewrap creates no user namespace, which a machine may forbid, and keeps the capabilities needed to
 * change the account.
 */
function bubblewrap(
  folders: readonly string[],
  { readable, device, asRoot }: { readable: readonly string[]; device: DeviceAccess; asRoot: boolean },
): string[] {
  const links = ['bin', 'sbin', 'lib', 'lib64'].map((name) => `--symlink usr/${name} /${name}`);
  const capabilities = ['SETUID', 'SETGID', 'SETPCAP'].map((name) => `--cap-add CAP_${name}`);
  const namespaces = asRoot
    ? ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
    : ['--unshare-all'];
  return [
    ...['bwrap', ...namespaces, ...(asRoot ? ['--cap-drop ALL', ...capabilities] : []), '--die-with-parent'],
    ...folders.map((path) => `--ro-bind ${path} ${path}`),
    ...links,
    // If bubblewrap creates it implicitly, only root can enter it.
    ...['--dir', '/etc'],
    ...SYSTEM_FILES.map((path) => `--ro-bind-try ${path} ${path}`),
    // Without /proc, the program cannot open the memory of bubblewrap, which has the same user if the engine is not root.
    ...['--dev', '/dev', '--dir', '/tmp', '--dir', JOB],
    ...device.files.flatMap((path) => [...above(path), `--dev-bind ${quoted(path)} ${quoted(path)}`]),
    ...[...readable, ...device.readable].flatMap((path) => [
      ...above(path),
      `--ro-bind ${quoted(path)} ${quoted(path)}`,
    ]),
    ...device.links.flatMap(({ path, target }) => [
      ...above(path),
      `--symlink ${quoted(target)} ${quoted(path)}`,
    ]),
    `--ro-bind-try "$PWD/${SOURCE_FOLDER}" ${JOB}/${SOURCE_FOLDER}`,
    `--bind-try "$PWD/${OUTPUT_FOLDER}" ${JOB}/${OUTPUT_FOLDER}`,
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', JOB],
    ...['--seccomp', String(FILTER_DESCRIPTOR), '--'],
  ];
}

/** Creates the folders above a file. */
function above(path: string): string[] {
  return foldersOf(path).map((folder) => `--dir ${quoted(folder)}`);
}

/** The folders above a file, the outermost first. */
function foldersOf(path: string): string[] {
  const parent = dirname(path);
  return parent === '/' ? [] : [...foldersOf(parent), parent];
}

/**
 * All rights of Landlock version 3 (Linux 6.2). They are listed by name so that setpriv fails on a kernel that lacks one. Earlier
 * versions let a program truncate files without the right to write.
 */
const LANDLOCK_RIGHTS = [
  ...['execute', 'write-file', 'read-file', 'read-dir', 'remove-dir', 'remove-file', 'make-char', 'make-dir'],
  ...['make-reg', 'make-sock', 'make-fifo', 'make-block', 'make-sym', 'refer', 'truncate'],
];

async function landlock(
  folders: readonly string[],
  { readable, device, filterPath }: { readable: readonly string[]; device: DeviceAccess; filterPath: string },
): Promise<string[]> {
  const present = await Promise.all(SYSTEM_FILES.map(exists));
  const rule = (rights: string, path: string) => `--landlock-rule path-beneath:${rights}:${path}`;
  const readingRule = async (path: string) =>
    rule((await stat(path)).isDirectory() ? 'read-file,read-dir' : 'read-file', quoted(path));
  const inJob = (rights: string, folder: string) => `$([ -d ${folder} ] && echo ${rule(rights, folder)})`;
  return [
    ...['--landlock-access', `fs:${LANDLOCK_RIGHTS.join(',')}`],
    ...folders.map((path) => rule('execute,read-file,read-dir', path)),
    ...SYSTEM_FILES.filter((_, at) => present[at]).map((path) => rule('read-file', path)),
    ...readable.map((path) => quoted(`--landlock-rule=path-beneath:execute,read-file:${path}`)),
    ...device.files.map((path) => rule('read-file,write-file', quoted(path))),
    ...foldersOfDevices(device).map((folder) => rule('read-dir', quoted(folder))),
    ...(await Promise.all(device.readable.map(readingRule))),
    rule('read-file,write-file', '/dev/null'),
    rule('read-file', '/dev/urandom'),
    inJob('read-file,read-dir', SOURCE_FOLDER),
    inJob('read-file,read-dir,write-file,truncate,make-reg,remove-file', OUTPUT_FOLDER),
    ...['--seccomp-filter', quoted(filterPath)],
  ];
}

/** Libraries list the folder of a device to find it again. */
function foldersOfDevices({ files }: DeviceAccess): string[] {
  return [...new Set(files.map((path) => dirname(path)))].filter((folder) => folder !== '/dev');
}

function requiredFilter(): Buffer {
  const filter = seccompFilter(process.arch);
  if (!filter) throw new Error(`No seccomp filter exists for the architecture ${process.arch}.`);
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
