import { readFileSync } from 'node:fs';

/** The version of Framelane. All of its packages have the same. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
