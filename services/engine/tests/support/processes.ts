import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Ids of the processes that work in a directory or name it on their command line, this one left out. */
export async function processesIn(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return folder.startsWith(directory) || command.includes(directory);
    }),
  );
  return pids.filter((_, at) => found[at]);
}

/** Whether a process is stopped; false for one that is gone. */
export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name before the state may hold anything, brackets and spaces included.
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

/** Looks again and again until the condition holds; the test's own time limit ends it. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}
