/** The most texts that a title is searched for: each costs a comparison with every title. */
const MAX_SEARCHED_TEXTS = 10;

/** The words of a search, each once. If there are too many, the last text is the rest of the search. */
export function searchedTexts(search: string): string[] {
  const words = search.split(/\s+/).filter((word) => word !== '');
  const rest = words.slice(MAX_SEARCHED_TEXTS - 1).join(' ');
  return [...new Set([...words.slice(0, MAX_SEARCHED_TEXTS - 1), ...(rest === '' ? [] : [rest])])];
}
