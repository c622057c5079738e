import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './repository.ts';

/** A decision record, as in docs/adr. */
export const RECORDS = 'docs/adr';

/** The text of a file of the repository. */
export function readSource(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The paths of all decision records, oldest first. */
export function recordFiles(): string[] {
  return readdirSync(join(ROOT, RECORDS))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${RECORDS}/${name}`);
}

/** The images of the pages, by their paths in the repository. */
export function imageFiles(): string[] {
  return readdirSync(join(ROOT, 'docs/images'))
    .filter((name) => /\.(png|jpg|svg)$/.test(name))
    .map((name) => `docs/images/${name}`);
}
