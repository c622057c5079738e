import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../fixtures/initial.sql');

/** The secret of the content keys in `fixtures/initial.sql`. It protects nothing. */
export const CONTENT_KEY_SECRET = Buffer.alloc(32, 7);

/**
 * `fixtures/initial.sql`: rows for the tables of the initial schema. A control plane wrote it before the second migration existed: the
 * headers of an authenticated request in a comment, then an `insert` for each row.
 */
export async function readInitialData(): Promise<string> {
  return readFile(FILE, 'utf8');
}

/** The headers of an authenticated request for this data. */
export function credentialsOf(data: string): Record<string, string> {
  return JSON.parse(data.slice(3, data.indexOf('\n')));
}
