import { textOfHtml } from './html.ts';

/** A heading below the title, and the HTML until the next one. */
export type Part = { level: 2 | 3; anchor: string; title: string; html: string };

/** Splits the HTML of a page at its headings of the levels 2 and 3. `lead` is what comes before the first one. */
export function partsOf(html: string): { lead: string; parts: Part[] } {
  const [lead = '', ...rest] = html.split(/<h([23]) id="([^"]*)"[^>]*>/);
  const parts: Part[] = [];
  for (let at = 0; at + 2 < rest.length; at += 3) {
    const [level, anchor = '', text = ''] = rest.slice(at, at + 3);
    const end = text.search(/<\/h[23]>/);
    parts.push({
      level: level === '2' ? 2 : 3,
      anchor,
      title: textOfHtml(text.slice(0, end)),
      html: text.slice(end),
    });
  }
  return { lead, parts };
}
