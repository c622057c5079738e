import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Saves the files of a guide below a directory: blocks after a paragraph that ends with their path. */
export async function saveFiles(guide: string, directory: string): Promise<void> {
  const markdown = await readFile(guide, 'utf8');
  const files = markdown.matchAll(/`([\w./[\]-]+\.(?:mjs|jsx?|html))`[^`]*:\n\n```\w+\n([\s\S]*?)```/g);
  for (const [, path = '', code = ''] of files) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), code);
  }
}
