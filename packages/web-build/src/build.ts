import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { directoryOf, FILES_PATH, keyOf } from './front-ends.ts';
import { licenceFile } from './licence-file.ts';

/** Largest first load of a page with its scripts and styles, in bytes after gzip. */
const MAX_BYTES = 250_000;

/** Vite's list of the built files and what they import. */
const MANIFEST = 'manifest.json';

/** Builds kept beside the newest one, for nodes that were started with earlier files. */
const OLDER_BUILDS = 1;

/** Folders in which builds run. A killed process leaves its folder behind; a later build removes it. */
const UNFINISHED = '.unfinished-';
const ABANDONED_MS = 3_600_000;

/** The outcome of a build. `bytes` is the size of the first load after gzip. */
export type BuildResult = { key: string; built: boolean; bytes: number };

/**
 * Builds a front end, unless the build of its present files exists. Throws if its first load is larger than `maxBytes`. Builds of
 * several processes at the same time do not disturb each other; one process must not run two at a time.
 */
export async function buildFrontEnd(folder: string, { maxBytes = MAX_BYTES } = {}): Promise<BuildResult> {
  const key = keyOf(folder);
  const directory = directoryOf(folder, key);
  if (existsSync(directory)) return { key, built: false, bytes: await firstLoadBytes(folder, directory) };
  const dist = join(folder, 'dist');
  await mkdir(dist, { recursive: true });
  const unfinished = await mkdtemp(join(dist, UNFINISHED));
  // The user who builds can be another one than the user who serves, as in the images.
  await chmod(unfinished, 0o755);
  try {
    await inProduction(() => bundle(folder, unfinished, key));
    await writePages(folder, unfinished);
    await writeFile(join(unfinished, 'style-hashes.json'), JSON.stringify(await styleHashes(folder)));
    const bytes = await firstLoadBytes(folder, unfinished);
    if (bytes > maxBytes) {
      throw new Error(
        `The first load has ${bytes} bytes after gzip, which is more than the limit of ${maxBytes}.`,
      );
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

/** Vite and React read NODE_ENV. In tests it has another value, with which they build for development. */
async function inProduction(build: () => Promise<void>): Promise<void> {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    await build();
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
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
    plugins: [licenceFile(`files/licences-${key}.md`)],
    // Files name each other relative to themselves, so only the page depends on the path at which they are served.
    experimental: {
      renderBuiltUrl: (_name, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
    },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: 'files',
      assetsInlineLimit: 0,
      manifest: MANIFEST,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}

/** Writes the pages of a front end that has several, around the page that Vite has built. */
async function writePages(folder: string, outDir: string): Promise<void> {
  const path = join(folder, 'pages.ts');
  if (!existsSync(path)) return;
  const pages: { writePages(outDir: string): Promise<void> } = await import(pathToFileURL(path).href);
  await pages.writePages(outDir);
}

/** The hashes of the style sheets that the elements of a page put into their shadow roots, where no nonce reaches. */
async function styleHashes(folder: string): Promise<string[]> {
  const path = join(folder, 'style-texts.ts');
  if (!existsSync(path)) return [];
  const { styleTexts }: { styleTexts(): Promise<string[]> } = await import(pathToFileURL(path).href);
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [...new Set((await styleTexts()).map(hash))].sort();
}

type Manifest = Record<string, { file: string; isEntry?: boolean; imports?: string[]; css?: string[] }>;

/** The size of the page and of the scripts, styles and fonts that it loads before anything is opened, after gzip. */
async function firstLoadBytes(folder: string, directory: string): Promise<number> {
  const manifest: Manifest = JSON.parse(await readFile(join(directory, MANIFEST), 'utf8'));
  const chunks = new Set<string>();
  const visit = (name: string) => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`The build has no file for ${name}.`);
    if (chunks.has(name)) return;
    chunks.add(name);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  for (const [name, { isEntry }] of Object.entries(manifest)) if (isEntry) visit(name);
  for (const name of await startRoutes(folder)) visit(name);
  const files = [...chunks].flatMap((name) => [manifest[name]?.file ?? '', ...(manifest[name]?.css ?? [])]);
  files.push(...preloadedFiles(await readFile(join(directory, 'index.html'), 'utf8')));
  const sizes = await Promise.all(
    ['index.html', ...new Set(files)].map(
      async (name) => gzipSync(await readFile(join(directory, name)), { level: 9 }).byteLength,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The files that the page tells the browser to load at once, such as a font. */
function preloadedFiles(html: string): string[] {
  const links = html.match(/<link\b[^>]*\brel="preload"[^>]*>/g) ?? [];
  return links.flatMap((link) => /\bhref="([^"]*)"/.exec(link)?.[1]?.replace(FILES_PATH, '') ?? []);
}

/** The files that the page imports at once although they are routes: `startRoutes` of its package.json. */
async function startRoutes(folder: string): Promise<string[]> {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return [];
  const { startRoutes = [] }: { startRoutes?: string[] } = JSON.parse(await readFile(path, 'utf8'));
  return startRoutes;
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
