import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, extname, join, posix } from 'node:path';
import { buildFrontEnd } from '../../packages/web-build/src/build.ts';
import { REFERENCE_URL, SITE_URL } from '../../packages/web-build/src/docs-placeholders.ts';
import { findBuild, folderOf } from '../../packages/web-build/src/front-ends.ts';

/** The address of a page or a file of the site in a built page. Pages have no extension there. */
const ADDRESS = new RegExp(`${SITE_URL}([\\w./-]*)`, 'g');

/**
 * Writes the documentation into a folder, for any server of static files. Its pages link to each other by relative paths. `baseUrl` is
 * where the folder will be served; only files whose own path is not known need it: the page for missing pages, and llms.txt.
 */
export async function writeStaticSite(folder, baseUrl = '/') {
  const docs = folderOf('docs-site');
  const { key } = await buildFrontEnd(docs);
  const { pages, files } = findBuild(docs, key);
  await cp(files, join(folder, 'files'), { recursive: true });
  for (const name of await readdir(pages, { recursive: true })) {
    const target = join(folder, name);
    if (extname(name) === '') continue;
    await mkdir(dirname(target), { recursive: true });
    const content = await readFile(join(pages, name));
    const isText = ['.html', '.md', '.txt'].includes(extname(name));
    await writeFile(target, isText ? withAddresses(name, content.toString('utf8'), baseUrl) : content);
  }
}

/** The text of a file with the addresses of static files. Without an installation, the API reference is the list of operations. */
export function withAddresses(name, text, baseUrl) {
  const isSomewhere = name === '404.html' || extname(name) === '.txt';
  const base = isSomewhere ? baseUrl.replace(/\/?$/, '/') : '';
  const up = isSomewhere ? '' : '../'.repeat(name.split('/').length - 1);
  return text
    .replaceAll(REFERENCE_URL, `${SITE_URL}api`)
    .replace(ADDRESS, (_, path) => base + up + fileOf(path));
}

function fileOf(path) {
  if (path === '') return 'index.html';
  return posix.extname(path) === '' ? `${path}.html` : path;
}
