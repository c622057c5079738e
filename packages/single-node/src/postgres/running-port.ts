import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Lines of `postmaster.pid`, counted from 0; PostgreSQL's `miscadmin.h` names them `LOCK_FILE_LINE_…`, counted from 1. */
const PORT_LINE = 3;
const STATUS_LINE = 7;

/** The port of the PostgreSQL that runs on this cluster, as it wrote it down; undefined unless it takes connections. */
export async function runningPort(directory: string): Promise<number | undefined> {
  const text = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n');
  return lines[STATUS_LINE]?.trim() === 'ready' ? Number(lines[PORT_LINE]) : undefined;
}
