/** A page of the site. */
export type Page = {
  /** Its URL below that of the site, without an extension. `index` is the first page. */
  name: string;
  title: string;
  /** What the page has, in one sentence. */
  summary: string;
  /** The title of its section. */
  section: string;
  /** With the addresses of links as in `placeholders.ts`, without an extension for pages of the site. */
  markdown: string;
  /** The file in the repository from which the page is made; undefined for a page made from the contract. */
  source?: string | undefined;
};

/** The title of a Markdown text: its first heading. Throws if the text does not begin with one. */
export function titleOf(markdown: string): string {
  const [, title] = /^# (.+)\n/.exec(markdown) ?? [];
  if (title === undefined) throw new Error(`A page must begin with a heading: ${markdown.slice(0, 60)}`);
  return plainText(title);
}

/**
 * The first sentence that says what the page has, rather than who reads it. A decision record is summarised by the beginning of its
 * decision.
 */
export function summaryOf(markdown: string): string {
  const [, decision] = markdown.split('\n## Decision\n');
  const [paragraph = ''] = /^(?:(?!```)[^\n#|>-].*\n)+/m.exec(decision ?? markdown) ?? [];
  const sentences = plainText(paragraph).match(/[^.:]+(?:[.:](?=\S)[^.:]*)*[.:]?/g) ?? [];
  const [first = '', second] = sentences.map((sentence) => sentence.trim());
  return /^This page is for /.test(first) && second !== undefined ? second : first;
}

/** Markdown within a paragraph as text. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
