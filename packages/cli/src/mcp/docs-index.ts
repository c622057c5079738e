import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';

/** A page of the documentation: its name is that of its Markdown file without `.md`. */
export type DocsPage = { name: string; title: string; text: string };

/** A section of a page that matches a search. */
export type Hit = { page: string; heading: string; excerpt: string };

type Section = { page: string; heading: string; text: string };

const MAX_HITS = 8;
const EXCERPT_CHARACTERS = 700;

/** Pages that answer few questions of users. */
const ASIDE =
  /^(adr|errors)\/|^(acceptance-tests|benchmarks|changelog|contributing|licences|mutation-tests|releasing)$/;

/** A full-text index of the sections of pages. */
export class DocsIndex {
  readonly #sections: readonly Section[];
  readonly #index: MiniSearch<Section & { id: number }>;

  constructor(pages: readonly DocsPage[]) {
    this.#sections = pages.flatMap(sectionsOf);
    this.#index = new MiniSearch({
      fields: ['page', 'heading', 'text'],
      tokenize: wordsOf,
      processTerm: stemOf,
      searchOptions: {
        boost: { page: 3, heading: 3 },
        boostDocument: (id) => (ASIDE.test(this.#section(id).page) ? 0.3 : 1),
      },
    });
    this.#index.addAll(this.#sections.map((section, id) => ({ id, ...section })));
  }

  /** The sections that match a question best. */
  search(question: string): Hit[] {
    return this.#index
      .search(question)
      .slice(0, MAX_HITS)
      .map(({ id, terms }) => {
        const { page, heading, text } = this.#section(id);
        return { page, heading, excerpt: excerptOf(text, terms) };
      });
  }

  #section(id: number): Section {
    const section = this.#sections[id];
    if (section === undefined) throw new Error(`There is no section ${id}`);
    return section;
  }
}

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

/** Names with underscores, such as codes of errors, are words, and so are their parts. */
function wordsOf(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) => (word.includes('_') ? [word, ...word.split('_').filter(Boolean)] : [word]));
}

/** So that "delete" finds "deletion". */
function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return /^[a-z]+$/.test(lower) ? stemmer(lower) : lower;
}

/** The text around that of the words which it has least often. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const found = words
    .map((word) => ({ at: lower.indexOf(word), times: lower.split(word).length }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.times - b.times);
  const start = text.lastIndexOf('\n', Math.max(0, (found[0]?.at ?? 0) - 200)) + 1;
  return text.slice(start, start + EXCERPT_CHARACTERS).trim();
}
