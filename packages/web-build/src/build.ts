import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { directoryOf, FILES_PATH, keyOf } from './front-ends.ts';

/** Largest page with its scripts and styles, in bytes after gzip. */
const MAX_BYTES = 250_000;

/** Builds kept beside the newest one, for nodes that were started with earlier files. */
const OLDER_BUILDS = 1;

/** Folders in which builds run. A killed process leaves its folder behind; a later build removes it. */
const UNFINISHED = '.unfinished-';
const ABANDONED_MS = 3_600_000;

/** The outcome of a build. `bytes` is the size of the page with its scripts and styles after gzip. */
export type BuildResult = { key: string; built: boolean; bytes: number };

/**
 * Builds a front end, unless the build of its present files exists. Throws if it is larger than `maxBytes`. Builds of several
 * processes at the same time do not disturb each other.
 */
export async function buildFrontEnd(folder: string, { maxBytes = MAX_BYTES } = {}): Promise<BuildResult> {
  const key = keyOf(folder);
  const directory = directoryOf(folder, key);
  if (existsSync(directory)) return { key, built: false, bytes: await transferBytes(directory) };
  const dist = join(folder, 'dist');
  await mkdir(dist, { recursive: true });
  const unfinished = await mkdtemp(join(dist, UNFINISHED));
  // The user who builds can be another one than the user who serves, as in the images.
  await chmod(unfinished, 0o755);
  try {
    await bundle(folder, unfinished, key);
    await writeFile(join(unfinished, 'style-hashes.json'), JSON.stringify(await styleHashes(folder)));
    const bytes = await transferBytes(unfinished);
    if (bytes > maxBytes) {
      throw new Error(`The page has ${bytes} bytes after gzip, which is more than the limit of ${maxBytes}.`);
    }
    // Fails if another process was faster. Its build is the same.
    await rename(unfinished, directory).catch((error: unknown) => {
      if (!existsSync(directory)) throw error;
    });
    await removeOldBuilds(dist, key);
    return { key, built: true, bytes };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function bundle(folder: string, outDir: string, key: string): Promise<void> {
  // Imported here, because images have built pages but no Vite.
  const { build } = await import('vite');
  await build({
    root: folder,
    configFile: false,
    base: FILES_PATH,
    publicDir: false,
    logLevel: 'error',
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: 'files',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      license: { fileName: `files/licences-${key}.md` },
    },
  });
}

/** The hashes of the style sheets that the elements of a page put into their shadow roots, where no nonce reaches. */
async function styleHashes(folder: string): Promise<string[]> {
  const path = join(folder, 'style-texts.ts');
  if (!existsSync(path)) return [];
  const { styleTexts }: { styleTexts(): Promise<string[]> } = await import(pathToFileURL(path).href);
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [...new Set((await styleTexts()).map(hash))].sort();
}

async function transferBytes(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  const sizes = await Promise.all(
    names
      .filter((name) => /\.(js|css|html)$/.test(name))
      .map(async (name) => gzipSync(await readFile(join(directory, name)), { level: 9 }).byteLength),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function removeOldBuilds(dist: string, key: string): Promise<void> {
  const names = (await readdir(dist)).filter((name) => name !== key);
  const folders = (await Promise.all(names.map((name) => folderIn(dist, name)))).flat();
  const isUnfinished = ({ name }: { name: string }) => name.startsWith(UNFINISHED);
  const builds = folders.filter((each) => !isUnfinished(each)).sort((a, b) => b.time - a.time);
  const abandoned = folders.filter((each) => isUnfinished(each) && each.time < Date.now() - ABANDONED_MS);
  const old = [...builds.slice(OLDER_BUILDS), ...abandoned];
  await Promise.all(old.map(({ name }) => rm(join(dist, name), { recursive: true, force: true })));
}

/** Empty if another build has removed it. */
async function folderIn(dist: string, name: string): Promise<{ name: string; time: number }[]> {
  try {
    return [{ name, time: (await stat(join(dist, name))).mtimeMs }];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
