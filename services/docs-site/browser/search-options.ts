import type MiniSearch from 'minisearch';
import type { Options } from 'minisearch';
import { stemmer } from 'stemmer';

/** A page, or a part of one. */
export type SearchEntry = {
  /** The name of the page, and the anchor of the part. */
  id: string;
  title: string;
  /** Where it is: the section of a page, or the page of a part. */
  page: string;
  text: string;
  excerpt: string;
};

/** What a result shows. */
export type SearchResult = Pick<SearchEntry, 'id' | 'title' | 'page' | 'excerpt'>;

/** Longer queries are cut: the work grows with every word and, as words may have typing errors, with its length. */
export const LONGEST_QUERY = 200;

const MAX_RESULTS = 20;

/** Words of questions, which every text has. */
const STOP_WORDS = new Set(
  'a an and are at be by can do does for from how i if in is it my of on or the to what when where which with'.split(
    ' ',
  ),
);

/** Pages that most readers do not look for. */
const ASIDE =
  /^(acceptance-tests|benchmarks|changelog|contributing|hls-conformance|licences|mutation-tests|releasing)(#|$)/;

/** The same for the build, which makes the index, and for the page, which searches it. */
export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  tokenize: wordsOf,
  processTerm: termsOf,
  searchOptions: {
    processTerm: stemOf,
    boost: { title: 4, page: 2 },
    combineWith: 'AND',
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boostDocument: (id) => rank(String(id)),
  },
};

/** The entries with all words of the query; if there are none, those with some of them. */
export function findEntries(index: MiniSearch<SearchEntry>, query: string): SearchResult[] {
  const words = query.slice(0, LONGEST_QUERY).split(/\s+/);
  const telling = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()));
  // "do" can be the beginning of "downloads".
  const asked = (telling.length > 0 ? telling : words).join(' ');
  const all = index.search(asked);
  const found = all.length > 0 ? all : index.search(asked, { combineWith: 'OR' });
  return found.slice(0, MAX_RESULTS) as unknown as SearchResult[];
}

/** The words of a text. Names with underscores, such as codes of errors and variables, are also words as a whole. */
function wordsOf(text: string): string[] {
  return [
    ...text.split(/[^\p{L}\p{N}]+/u).filter(Boolean),
    ...(text.match(/[a-z0-9]+(?:_[a-z0-9]+)+/gi) ?? []),
  ];
}

/** What the index has of a word: its stem, so that "delete" finds "deletion", and itself, so that "deletio" does. */
function termsOf(word: string): string[] | null {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? null : [...new Set([lower, stemOf(word)])];
}

function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return /^[a-z]+$/.test(lower) ? stemmer(lower) : lower;
}

/** Whole pages come before their parts, and guides before all others. */
function rank(id: string): number {
  const isAside = /^(adr|errors)\//.test(id) || ASIDE.test(id);
  return (id.includes('#') ? 1 : 3) * (isAside ? 0.3 : 1);
}
