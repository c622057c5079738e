import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

/** Mounts a file system of a limited size, such as `16m`, at a directory. */
export async function mountSmallDisk(path: string, size: string): Promise<void> {
  await runProgram('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
}

export async function unmountSmallDisk(path: string): Promise<void> {
  await runProgram('umount', [path]);
}

/** Why this process cannot mount file systems. Null if it can. */
export async function obstacleToMounting(): Promise<string | null> {
  const path = await mkdtemp(join(tmpdir(), 'framelane-mount-'));
  try {
    await mountSmallDisk(path, '1m');
    await unmountSmallDisk(path);
    return null;
  } catch (error) {
    return `File systems cannot be mounted here: ${String(error)}`;
  } finally {
    await rm(path, { recursive: true });
  }
}
