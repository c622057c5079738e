/** How many characters at the end of a text are always shown: an id, or the name of a file with the end of an id. */
const END = 24;

/** The beginning of a text, which may be cut where there is no room, and its end, by which texts such as URLs differ. */
export function endsOf(text: string): { beginning: string; end: string } {
  const cut = Math.max(0, text.length - END);
  return { beginning: text.slice(0, cut), end: text.slice(cut) };
}
