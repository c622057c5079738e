import { buildFrontEnd } from './build.ts';
import { folderOf } from './front-ends.ts';

const { key, built, bytes } = await buildFrontEnd(folderOf('player'));
process.stdout.write(
  `player ${key}: ${built ? 'built' : 'already built'}, ${Math.round(bytes / 1000)} kB after gzip\n`,
);
