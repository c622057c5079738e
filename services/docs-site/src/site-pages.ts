import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { REFERENCE_URL, SITE_URL } from '@framelane/web-build/docs-placeholders';
import { apiPage } from './api-page.ts';
import { replaceTargets } from './markdown-links.ts';
import { type Page, summaryOf, titleOf } from './page.ts';
import { problemPages } from './problem-pages.ts';
import { ROOT, repositoryUrl } from './repository.ts';
import { NAMES, REFERENCE, SECTIONS, UNDERSTAND } from './sections.ts';
import { RECORDS, readSource, recordFiles } from './source-files.ts';

/** All pages, in the order of the sidebar. */
export function sitePages(): Page[] {
  return SECTIONS.flatMap(({ title, files }) => [
    ...files.map((file) => pageOfFile(file, title)),
    ...(title === UNDERSTAND ? recordPages() : []),
    ...(title === REFERENCE ? [apiPage(REFERENCE), ...problemPages(REFERENCE)] : []),
  ]);
}

function pageOfFile(file: string, section: string): Page {
  const markdown = readSource(file);
  return {
    name: nameOf(file),
    title: titleOf(markdown),
    summary: summaryOf(markdown),
    section,
    markdown: replaceTargets(markdown, (target) => addressOf(target, file)),
    source: file,
  };
}

/** The list of the decision records, and the records. */
function recordPages(): Page[] {
  const records = recordFiles().map((file) => pageOfFile(file, UNDERSTAND));
  const summary =
    'Why Framelane is built as it is: each record has a context, a decision and its consequences.';
  const lines = records.map(({ name, title }) => `- [${title}](${SITE_URL}${name})`);
  const title = 'Decision records';
  const markdown = `# ${title}\n\n${summary}\n\n${lines.join('\n')}\n`;
  return [{ name: 'adr', title, summary, section: UNDERSTAND, markdown }, ...records];
}

/** The name of the page made from a file. */
function nameOf(file: string): string {
  return NAMES[file] ?? file.replace(/^docs\//, '').replace(/\.md$/, '');
}

const files = new Set(SECTIONS.flatMap((section) => section.files));

/** The address of a link or an image in `file`: a page or an image of the site, else a file of the repository. */
function addressOf(target: string, file: string): string {
  if (/^(\w+:|#)/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const found = posix.join(posix.dirname(file), path).replace(/\/$/, '');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (found === RECORDS) return `${SITE_URL}adr${hash}`;
  if (found === 'openapi') return REFERENCE_URL;
  if (found.startsWith('docs/images/')) return SITE_URL + found.replace('docs/', '');
  const source = existsSync(join(ROOT, found, 'README.md')) ? posix.join(found, 'README.md') : found;
  if (files.has(source) || source.startsWith(`${RECORDS}/`)) return `${SITE_URL}${nameOf(source)}${hash}`;
  return repositoryUrl(found) + hash;
}
