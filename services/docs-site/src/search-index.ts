import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from '../browser/search-options.ts';
import { partsOf } from './headings.ts';
import { textOfHtml } from './html.ts';
import type { Page } from './page.ts';

/** Characters of the text that a result shows. */
const EXCERPT = 140;

/** The index that the pages search, as JSON: an entry for each page and for each of its parts. An error has one entry. */
export function searchIndex(rendered: readonly { page: Page; html: string }[]): string {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  index.addAll(rendered.flatMap(({ page, html }) => entriesOf(page, html)));
  return JSON.stringify(index);
}

function entriesOf(page: Page, html: string): SearchEntry[] {
  const { lead, parts } = page.name.startsWith('errors/') ? { lead: html, parts: [] } : partsOf(html);
  const whole = { id: page.name, title: page.title, page: page.section, html: lead, excerpt: page.summary };
  const within = parts.map(({ anchor, title, html: part }) => ({
    id: `${page.name}#${anchor}`,
    title,
    page: page.title,
    html: part,
  }));
  return [whole, ...within].map(({ html: part, ...entry }) => {
    const text = textOfHtml(part.replace(/<h1[\s\S]*?<\/h1>/, ''));
    return { excerpt: text.slice(0, EXCERPT), ...entry, text };
  });
}
