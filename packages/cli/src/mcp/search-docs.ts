import type { DocsPage } from './docs-pages.ts';

/** A section of a page that matches a search. */
export type Hit = { page: string; heading: string; excerpt: string };

const MAX_HITS = 8;
const EXCERPT_CHARACTERS = 700;

/** The sections with the most of the words; a rare word, and one in the heading or in the name of the page, count more. */
export function searchDocs(pages: readonly DocsPage[], query: string): Hit[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_.-]{2,}/gu) ?? [])].slice(0, 20);
  const sections = pages.flatMap((page) => sectionsOf(page));
  const weighted = words.map((word) => ({ word, weight: rarity(word, sections) }));
  const scored = sections
    .map((section) => ({ section, score: scoreOf(section, weighted) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  return scored.slice(0, MAX_HITS).map(({ section: { page, heading, text } }) => ({
    page,
    heading,
    excerpt: excerptOf(text, words),
  }));
}

type Section = { page: string; heading: string; text: string };

function sectionsOf({ name, title, text }: DocsPage): Section[] {
  const sections: Section[] = [{ page: name, heading: title, text: '' }];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    // In a shell, # begins a comment.
    const [, heading] = (!isCode && /^#{1,4} (.+)$/.exec(line)) || [];
    const last = sections.at(-1);
    if (heading !== undefined) sections.push({ page: name, heading, text: '' });
    else if (last !== undefined) last.text += `${line}\n`;
  }
  return sections.filter((section) => section.text.trim() !== '');
}

/** Close to 0 for a word that nearly all sections have, such as "the" in a question. */
function rarity(word: string, sections: readonly Section[]): number {
  const having = sections.filter((each) => `${titleOf(each)}\n${each.text}`.toLowerCase().includes(word));
  return Math.log2(1 + sections.length / Math.max(1, having.length)) - 0.99;
}

/** How many of the words a section has, and how often. Repetitions count little, so that long sections do not win. */
function scoreOf(section: Section, words: readonly { word: string; weight: number }[]): number {
  const [title, body] = [titleOf(section), section.text.toLowerCase()];
  return words.reduce((sum, { word, weight }) => {
    const inBody = Math.log2(body.split(word).length);
    return sum + weight * ((title.includes(word) ? 4 : 0) + (inBody > 0 ? 2 + Math.min(inBody, 3) : 0));
  }, 0);
}

function titleOf({ page, heading }: Section): string {
  return `${page} ${heading}`.toLowerCase();
}

/** The text around the first word that it has. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0), text.length);
  const start = text.lastIndexOf('\n', Math.max(0, at - 200)) + 1;
  return text.slice(start, start + EXCERPT_CHARACTERS).trim();
}
