import { buildFrontEnd } from './build.ts';
import { folderOf } from './front-ends.ts';

/** Builds the player page, or the page in a folder, with another limit of its size in bytes. Prints what it did. */
const [folder = folderOf('player'), maxBytes] = process.argv.slice(2);
const limit = maxBytes === undefined ? {} : { maxBytes: Number(maxBytes) };
const { key, built, bytes } = await buildFrontEnd(folder, limit);
process.stdout.write(`${key} ${built ? 'built' : 'found'}: ${Math.round(bytes / 1000)} kB after gzip\n`);
