import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Kills the sandboxes of an earlier engine with this folder of jobs, with all their programs. Resolves with their process ids.
 *
 * The kernel ends bubblewrap with the engine, and the sandbox with bubblewrap. But a sandbox that bubblewrap is still setting
 * up survives: it continues to run, or waits forever.
 */
export async function killOrphans(jobsDir: string): Promise<number[]> {
  const folder = join(await realpath(jobsDir), '/');
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const killed: number[] = [];
  for (const pid of processes) {
    // A process may end meanwhile.
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const [program, ...args] = commandLine.split('\0');
    if (program !== 'bwrap' || !args.some((arg) => arg.startsWith(folder))) continue;
    try {
      process.kill(pid, 'SIGKILL');
      killed.push(pid);
    } catch (error) {
      // It has ended, or belongs to another user and so not to an engine of this folder.
      if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return killed;
}
