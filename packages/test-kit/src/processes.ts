import { readdir, readFile, readlink } from 'node:fs/promises';

/** A running process and its command line. */
export type Process = { pid: number; command: string };

/** The processes that work in a directory or name it on their command line, except this one. */
export async function processesUsing(directory: string): Promise<Process[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const uses = folder.startsWith(directory) || command.includes(directory);
      // A process that has ended has no command line.
      return uses && command !== '' ? [{ pid, command: command.replaceAll('\0', ' ') }] : [];
    }),
  );
  return found.flat();
}

/** Whether a process is stopped (SIGSTOP); false when it has ended. */
export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The process name before the state may contain spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}
