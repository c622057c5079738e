import { resolve } from 'node:path';
import { buildFrontEnd } from './build.ts';
import { FRONT_ENDS, folderOf } from './front-ends.ts';

/** `main.ts [folder [maxBytes]]`: builds all front ends, or the one in `folder`. `maxBytes` replaces the limit of its first load. */
const [folder, maxBytes] = process.argv.slice(2);
const limit = maxBytes === undefined ? {} : { maxBytes: Number(maxBytes) };
for (const each of folder === undefined ? FRONT_ENDS.map(folderOf) : [resolve(folder)]) {
  const { key, built, bytes } = await buildFrontEnd(each, limit);
  process.stdout.write(`${key} ${built ? 'built' : 'found'}: ${Math.round(bytes / 1000)} kB after gzip\n`);
}
