import { open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file that only its owner can read, atomically and durably (also after a power cut). An existing file keeps its
 * owner, even if root replaces it. Not write-file-atomic: it does not sync the folder, so a power cut can undo the rename.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    if (existing !== undefined) await file.chown(existing.uid, existing.gid);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const directory = await open(dirname(path));
  await directory.sync();
  await directory.close();
}
