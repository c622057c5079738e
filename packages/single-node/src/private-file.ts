import { open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file that only its owner can read, and that is there whole or not at all, also after a power cut. A file that
 * is replaced keeps its owner, whoever runs this.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const former = await stat(path).catch(() => undefined);
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    if (former !== undefined) await file.chown(former.uid, former.gid);
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
