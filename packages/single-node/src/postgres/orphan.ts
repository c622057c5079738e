import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a server left behind may take for its orderly stop, in milliseconds. */
const ORDERLY_STOP_MS = 30_000;

/**
 * Ends a PostgreSQL that an earlier, killed process left running on this cluster, and removes its pid file. The file
 * alone proves nothing: after a restart of the machine or container its number may belong to any process. What
 * proves a server is a process whose working directory is the cluster. Call it only while holding the lock of the
 * data directory.
 */
export async function stopOrphan(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  const deadline = Date.now() + ORDERLY_STOP_MS;
  let running = await processesIn(cluster);
  if (running.includes(pid)) process.kill(pid, 'SIGINT');
  while (running.length > 0) {
    if (Date.now() > deadline) {
      throw new Error(
        `An earlier PostgreSQL still runs in ${cluster} (process ${running.join(', ')}). End it and start again.`,
      );
    }
    await sleep(50);
    running = await processesIn(cluster);
  }
  await rm(pidFile, { force: true });
}

/** The processes that work in this directory; all of PostgreSQL's do. */
async function processesIn(directory: string): Promise<number[]> {
  const target = await realpath(directory);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)));
  return pids.filter((_, index) => places[index] === target).map(Number);
}
