import { readFile } from 'node:fs/promises';

/**
 * Bytes of RAM that a process and all its descendants hold, shared pages counted for each. Zero for a process that is gone.
 *
 * A limit on address space (RLIMIT_AS) cannot stand in for it: with many threads a process reserves several times what it uses.
 */
export async function residentBytes(pid: number): Promise<number> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [status, children] = await Promise.all([read('status'), read(`task/${pid}/children`)]);
  const [, kibibytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
  const ofChildren = await Promise.all(
    children
      .split(' ')
      .filter((child) => child !== '')
      .map((child) => residentBytes(Number(child))),
  );
  return ofChildren.reduce((sum, bytes) => sum + bytes, Number(kibibytes) * 1024);
}
