import { mkdir } from 'node:fs/promises';

/** Does something that needs a folder. Creates the folder only if it is missing: it almost never is. */
export async function inFolder<T>(folder: string, access: () => Promise<T>): Promise<T> {
  try {
    return await access();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    return access();
  }
}
