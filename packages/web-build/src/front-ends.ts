import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Files outside its folder that decide how a front end is built. */
const SHARED = [
  'packages/web-build/src',
  'packages/client/src',
  'infra/licences/texts',
  'LICENSE',
  'pnpm-lock.yaml',
  'tsconfig.json',
].map((path) => join(ROOT, path));

/** Files in its folder that are not part of a front end. */
const LEFT_OUT = /(^|\/)(node_modules|dist|tests)(\/|$)|\.test\.ts$/;

/** The front ends that Framelane serves. */
export const FRONT_ENDS = ['player', 'console', 'docs-site'] as const;
export type FrontEnd = (typeof FRONT_ENDS)[number];

/** In the published program, all packages are in one folder. Those of the front ends have a build and no sources. */
const PUBLISHED = join(import.meta.dirname, '../..');

/** The folder of a front end. */
export function folderOf(name: FrontEnd): string {
  const published = join(PUBLISHED, name);
  return existsSync(published) ? published : join(ROOT, 'services', name);
}

/** The files of a build. */
export type BuiltFrontEnd = {
  /** Identifies the build: a hash of the files that it was made from. */
  key: string;
  /** The folder with the files that browsers load. */
  files: string;
  /** The folder with the pages of a front end that has several. */
  pages: string;
  /** The page. The paths of its files begin with `FILES_PATH`. */
  html: string;
  /** Hashes of the style sheets in shadow roots, as a Content-Security-Policy names them. */
  styleHashes: string[];
};

/** The placeholder in built pages for the path at which their files are served. */
export const FILES_PATH = '/files-of-this-page/';

/** The build of the current files; undefined if it does not exist. `key` is the result of `keyOf`. */
export function findBuild(folder: string, key: string): BuiltFrontEnd | undefined {
  const directory = directoryOf(folder, key);
  if (!existsSync(directory)) return undefined;
  const styleHashes: string[] = JSON.parse(readFileSync(join(directory, 'style-hashes.json'), 'utf8'));
  const html = readFileSync(join(directory, 'index.html'), 'utf8');
  return { key, files: join(directory, 'files'), pages: join(directory, 'pages'), html, styleHashes };
}

/** The folder of the build with this key. */
export function directoryOf(folder: string, key: string): string {
  return join(folder, 'dist', key);
}

/**
 * A hash of all files that decide what is built, with their names. A control plane computes it to find the build, so its container image
 * contains these files as well.
 */
export function keyOf(folder: string): string {
  const [only] = dirname(folder) === PUBLISHED ? readdirSync(join(folder, 'dist')) : [];
  if (only !== undefined) return only;
  const hash = createHash('sha256');
  for (const path of [folder, ...otherInputs(folder), ...SHARED].flatMap(filesBelow)) {
    hash
      .update(`${relative(ROOT, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

/** Files and folders elsewhere from which a front end is also built: `builtFrom` of its package.json. */
function otherInputs(folder: string): string[] {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return [];
  const { builtFrom = [] }: { builtFrom?: string[] } = JSON.parse(readFileSync(path, 'utf8'));
  return builtFrom.map((input) => join(ROOT, input));
}

/** Empty if there is no such path: a container image may have no front end. */
function filesBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.test(name))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)]))
    .sort();
}
