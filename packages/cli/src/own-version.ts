import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of this package. */
export function ownVersion(): string {
  const path = findPackageJSON('.', import.meta.url);
  return path === undefined ? 'unknown' : JSON.parse(readFileSync(path, 'utf8')).version;
}
