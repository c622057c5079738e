import { SITE_URL } from '@framelane/web-build/docs-placeholders';
import { replaceTargets } from './markdown-links.ts';
import type { Page } from './page.ts';

/** The Markdown of a page for readers of Markdown: its links to other pages are to their Markdown. */
export function markdownPage({ markdown }: Page): string {
  return replaceTargets(markdown, (target) => {
    if (!target.startsWith(SITE_URL) || target.startsWith(`${SITE_URL}images/`)) return target;
    const [name = '', anchor] = target.slice(SITE_URL.length).split('#');
    return `${SITE_URL}${name || 'index'}.md${anchor === undefined ? '' : `#${anchor}`}`;
  });
}
