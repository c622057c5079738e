import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../fixtures/rows/20261210-initial.sql');

/** The secret of the content keys in these rows. It protects nothing. */
export const CONTENT_KEY_SECRET = Buffer.alloc(32, 7);

/** The headers of an authenticated request for the rows of the initial migration: the comment in the first line of their file. */
export async function readCredentials(): Promise<Record<string, string>> {
  const rows = await readFile(FILE, 'utf8');
  return JSON.parse(rows.slice(3, rows.indexOf('\n')));
}
