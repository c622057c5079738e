import type { Options } from 'minisearch';

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

/** The same for the build, which makes the index, and for the page, which searches it. */
export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  searchOptions: {
    boost: { title: 4, page: 2 },
    combineWith: 'AND',
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boostDocument: (id) => rank(String(id)),
  },
};

/** Whole pages come before their parts, and guides before decision records and single errors. */
function rank(id: string): number {
  const [, folder] = /^(adr|errors)\//.exec(id) ?? [];
  const ofFolder = folder === 'adr' ? 0.3 : folder === 'errors' ? 0.7 : 1;
  return id.includes('#') ? ofFolder : 2 * ofFolder;
}
