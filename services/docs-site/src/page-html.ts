import { REFERENCE_URL, SITE_URL } from '@framelane/web-build/docs-placeholders';
import { partsOf } from './headings.ts';
import { escapeHtml } from './html.ts';
import type { Page } from './page.ts';
import { repositoryUrl } from './repository.ts';

/** What all pages share: the shell that Vite has built, and the path of the search index. */
export type Frame = { shell: string; searchFile: string; pages: readonly Page[] };

/** A page in the shell. `content` is its Markdown as HTML. */
export function pageHtml(page: Page, content: string, { shell, searchFile, pages }: Frame): string {
  const address = SITE_URL + (page.name === 'index' ? '' : page.name);
  const title = page.name === 'index' ? 'Framelane docs' : `${page.title} · Framelane docs`;
  const head = `<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.summary)}">
<link rel="canonical" href="${address}">
<link rel="alternate" type="text/markdown" href="${SITE_URL}${page.name}.md">`;
  return fillShell(shell, {
    search: searchFile,
    head,
    home: SITE_URL,
    reference: REFERENCE_URL,
    pages: sidebar(page, pages),
    content: `<article>\n${withAnchors(content)}</article>\n${footer(page, pages)}`,
    outline: outline(content),
  });
}

/** The page for a path without a page. */
export function missingPageHtml({ shell, searchFile, pages }: Frame): string {
  const first = pages[0] as Page;
  return fillShell(shell, {
    search: searchFile,
    head: '<title>Page not found · Framelane docs</title>\n<meta name="robots" content="noindex">',
    home: SITE_URL,
    reference: REFERENCE_URL,
    pages: sidebar({ ...first, name: '404', section: '' }, pages),
    content: `<article><h1>Page not found</h1>
<p>The docs have no page at this address. Search for it, choose one of the pages, or begin at the <a href="${SITE_URL}">first page</a>.</p></article>`,
    outline: '',
  });
}

function fillShell(shell: string, parts: Record<string, string>): string {
  return shell.replace(/<!--(\w+)-->/g, (whole, name: string) => parts[name] ?? whole);
}

/** All sections. The pages in a folder, which are very many, are shown only beside each other. */
function sidebar(page: Page, pages: readonly Page[]): string {
  const [folder] = page.name.split('/');
  const shown = pages.filter(({ name }) => !name.includes('/') || name.startsWith(`${folder}/`));
  return [...Map.groupBy(shown, ({ section }) => section)]
    .map(([title, ofSection]) => {
      const links = ofSection.map((each) => sidebarLink(each, page)).join('');
      // The first page shows what there is.
      const isOpen = title === page.section || page.name === 'index';
      return `<details${isOpen ? ' open' : ''}><summary>${title}</summary><ul>${links}</ul></details>`;
    })
    .join('\n');
}

function sidebarLink({ name, title }: Page, current: Page): string {
  const mark = name === current.name ? ' aria-current="page"' : '';
  return `<li><a href="${SITE_URL}${name === 'index' ? '' : name}"${mark}>${escapeHtml(title)}</a></li>`;
}

function outline(content: string): string {
  const { parts } = partsOf(content);
  if (parts.length < 2) return '';
  const links = parts.map(
    ({ level, anchor, title }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(title)}</a></li>`,
  );
  return `<nav aria-labelledby="outline-title"><h2 id="outline-title">On this page</h2><ul>${links.join('')}</ul></nav>`;
}

/** A link at each heading to itself. */
function withAnchors(content: string): string {
  return content.replace(
    /<h([23]) id="([^"]*)">([\s\S]*?)<\/h\1>/g,
    (_, level: string, anchor: string, text: string) =>
      `<h${level} id="${anchor}">${text} <a class="anchor" href="#${anchor}" aria-label="Link to this part">#</a></h${level}>`,
  );
}

function footer(page: Page, pages: readonly Page[]): string {
  const at = pages.indexOf(page);
  const link = (other: Page | undefined, rel: string, words: string) =>
    other === undefined
      ? '<span></span>'
      : `<a class="neighbour" rel="${rel}" href="${SITE_URL}${other.name === 'index' ? '' : other.name}"><small>${words}</small>${escapeHtml(other.title)}</a>`;
  const source =
    page.source === undefined ? '' : ` · <a href="${repositoryUrl(page.source)}">Source of this page</a>`;
  return `<footer><nav class="neighbours" aria-label="Next and previous page">${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>
<p><a href="${SITE_URL}${page.name}.md">This page as Markdown</a>${source}</p></footer>`;
}
