import { SITE_URL } from '@framelane/web-build/docs-placeholders';
import type { Page } from './page.ts';

const SUMMARY =
  'Framelane is a video service that you run yourself, on Linux. Clients upload video files. Framelane transcodes them and serves them as encrypted adaptive HLS.';

/** The index of the docs for language models (llmstxt.org). Its links are to the pages as Markdown. */
export function llmsIndex(pages: readonly Page[]): string {
  const sections = Map.groupBy(pages, (page) => (isOptional(page) ? 'Optional' : page.section));
  const parts = [...sections]
    .sort(([a], [b]) => Number(a === 'Optional') - Number(b === 'Optional'))
    .map(([title, ofSection]) => `## ${title}\n\n${ofSection.map(line).join('\n')}\n`);
  return `# Framelane\n\n> ${SUMMARY}\n\nThe pages in one file: ${SITE_URL}llms-full.txt\n\n${parts.join('\n')}`;
}

/** Single records and errors, and what is for people who change Framelane: a reader with little room can leave them out. */
function isOptional({ name, section }: Page): boolean {
  return name.includes('/') || section === 'Change it';
}

function line({ name, title, summary }: Page): string {
  return `- [${title}](${SITE_URL}${name}.md): ${summary}`;
}

/** The pages that are not optional, in one text. */
export function llmsFull(pages: readonly Page[], markdownOf: (page: Page) => string): string {
  const included = pages.filter((page) => !isOptional(page));
  return included.map((page) => markdownOf(page).trim()).join('\n\n---\n\n');
}
