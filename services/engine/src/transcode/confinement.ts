import { realpath, writeFile } from 'node:fs/promises';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from './input-limits.ts';
import { seccompFilter } from './seccomp-filter.ts';
import type { TranscodeLimits } from './transcode-settings.ts';

/** Where a job's directory appears inside the sandbox. */
const JOB = '/job';

/** Threads a sandboxed program may have. */
const MAX_THREADS = 4096;

/** Programs a confined one is started through. */
export const CONFINING_PROGRAMS = ['env', 'setsid', 'setpriv', 'nice', 'prlimit'] as const;

type Limits = Pick<TranscodeLimits, 'memoryBytes' | 'cpuSeconds' | 'fileBytes'>;

/**
 * Writes a shell script to `path` that starts `program` with the arguments the script is given, kept in its place:
 *
 * - an empty environment, so that no secret of the engine is in reach;
 * - leader of its own process group, so that all it starts can be ended at once;
 * - killed by the kernel when the engine's main thread ends, however that ends;
 * - low priority, limits on memory, CPU time and the size of a file, no core dumps, no new privileges;
 * - with bubblewrap also: no network, no processes but itself, a read-only system, and of the job's directory, which must
 *   be the working directory, the source to read and the output to write.
 */
export async function writeConfinedProgram(
  path: string,
  program: string,
  sandbox: 'bubblewrap' | 'none',
  limits: Limits,
): Promise<void> {
  const filter = sandbox === 'bubblewrap' ? seccompFilter(process.arch) : null;
  const filterPath = filter && `${path}.seccomp`;
  if (filterPath) await writeFile(filterPath, filter);
  const command = [
    ...['exec', 'env', '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'LC_ALL=C'],
    'setsid',
    ...['setpriv', '--pdeathsig', 'KILL', '--no-new-privs'],
    ...['nice', '-n', '10'],
    ...['prlimit', `--as=${limits.memoryBytes}`, `--cpu=${limits.cpuSeconds}`],
    ...[`--fsize=${limits.fileBytes}`, '--core=0'],
    ...(sandbox === 'bubblewrap' ? bubblewrap([program, await realpath(program)], filterPath !== null) : []),
    quoted(program),
    '"$@"',
    ...(filterPath ? [`${FILTER_DESCRIPTOR}<${quoted(filterPath)}`] : []),
  ];
  await writeFile(path, `#!/bin/sh\n${command.join(' ')}\n`, { mode: 0o700 });
}

const FILTER_DESCRIPTOR = 9;

/** @param programPaths the program's path as it is called, and without links */
function bubblewrap(programPaths: readonly string[], hasFilter: boolean): string[] {
  const readOnly = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/fonts'];
  // Whole applications and their settings may be there.
  if (programPaths.some((path) => path.startsWith('/opt/'))) readOnly.push('/opt');
  const links = ['bin', 'sbin', 'lib', 'lib64'].map((name) => `--symlink usr/${name} /${name}`);
  return [
    ...['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/usr', '/usr', ...links],
    ...readOnly.map((path) => `--ro-bind-try ${path} ${path}`),
    ...['--proc', '/proc', '--dev', '/dev', '--dir', '/tmp', '--dir', JOB],
    `--ro-bind-try "$PWD/${SOURCE_FOLDER}" ${JOB}/${SOURCE_FOLDER}`,
    `--bind-try "$PWD/${OUTPUT_FOLDER}" ${JOB}/${OUTPUT_FOLDER}`,
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', JOB],
    ...(hasFilter ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
    // Counted inside alone; outside, other programs of the same user would count, too.
    ...['--', 'prlimit', `--nproc=${MAX_THREADS}`],
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
