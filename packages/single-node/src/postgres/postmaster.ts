import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OWN_DIRECTORY } from './programs.ts';

/** Time limit for the stop of a server. */
export const POSTGRES_STOP_MS = 30_000;

/** Lines of `postmaster.pid`, from 0. PostgreSQL's `miscadmin.h` counts the same lines (`LOCK_FILE_LINE_…`) from 1. */
const PID_LINE = 0;
const PORT_LINE = 3;
const STATUS_LINE = 7;

/** A setting of ours, which names the cluster on the command line of its server. */
const CLUSTER_SETTING = 'framelane.cluster';

/** The options that make `postgres`, which runs in the directory of a cluster, work on that cluster. */
export function clusterOptions(cluster: string): string[] {
  return ['-D', OWN_DIRECTORY, '-c', `${CLUSTER_SETTING}=${cluster}`];
}

/** The port of the PostgreSQL that runs on a cluster; undefined unless it accepts connections. */
export async function runningPort(cluster: string): Promise<number | undefined> {
  const lines = await readPidFile(cluster);
  if (lines[STATUS_LINE]?.trim() !== 'ready') return undefined;
  // A killed server leaves its pid file behind.
  const isRunning = (await processesIn(cluster)).includes(Number(lines[PID_LINE]));
  return isRunning ? Number(lines[PORT_LINE]) : undefined;
}

/**
 * Stops a PostgreSQL that an earlier, killed process has left running on a cluster, and removes its pid file.
 *
 * The pid alone is no proof: after a restart of the machine or container it may belong to another process. A process
 * whose working directory is the cluster belongs to its server. The caller holds the lock of the data directory.
 */
export async function stopOrphan(cluster: string): Promise<void> {
  const pid = Number((await readPidFile(cluster))[PID_LINE]);
  const deadline = Date.now() + POSTGRES_STOP_MS;
  let running = await processesIn(cluster);
  if (running.includes(pid)) process.kill(pid, 'SIGINT');
  while (running.length > 0) {
    if (Date.now() > deadline) {
      throw new Error(
        `An earlier PostgreSQL is still running in ${cluster} (process ${running.join(', ')}). Stop it and start again.`,
      );
    }
    await sleep(50);
    running = await processesIn(cluster);
  }
  await rm(pidFile(cluster), { force: true });
}

function pidFile(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}

/** The lines of the pid file; none if it does not exist. */
async function readPidFile(cluster: string): Promise<string[]> {
  const text = await readFile(pidFile(cluster), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n');
}

/** The processes whose working directory this is. For all processes of PostgreSQL it is their cluster. */
async function processesIn(directory: string): Promise<number[]> {
  const target = await realpath(directory);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const directories = await Promise.all(pids.map(directoryOf));
  return pids.filter((_, index) => directories[index] === target).map(Number);
}

/** The working directory of a process; null if it is unknown. */
async function directoryOf(pid: string): Promise<string | null> {
  return await readlink(`/proc/${pid}/cwd`).catch(async () => {
    // In a container, root usually lacks CAP_SYS_PTRACE: it cannot read this link of a process of another user. It can read the
    // command lines, of which that of the main process names the cluster. The other processes end with it.
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const cluster = clusterOf(command.split('\0'));
    return cluster === undefined ? null : await realpath(cluster).catch(() => null);
  });
}

/** The cluster that a command line names. */
function clusterOf(words: readonly string[]): string | undefined {
  const setting = words.find((word) => word.startsWith(`${CLUSTER_SETTING}=`));
  return setting?.slice(CLUSTER_SETTING.length + 1);
}
