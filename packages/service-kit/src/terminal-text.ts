/** Control characters (Cc): a terminal obeys them. */
const CONTROL = String.raw`\p{Cc}`;

/** Marks, embeddings, overrides and isolates that reorder text (Unicode Standard Annex #9), and line separators. */
const REORDERING = String.raw`\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029`;

const UNSAFE = new RegExp(`[${CONTROL}${REORDERING}]`, 'gu');
/** JSON.stringify has escaped the control characters below U+0020 in strings; those that remain are layout. */
const UNSAFE_IN_JSON = new RegExp(String.raw`[\u007F-\u009F${REORDERING}]`, 'gu');

/** A text from outside on one line of a terminal: characters that would move the cursor or reorder the line are escaped. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** JSON that is safe to print to a terminal. The same value: the escapes are those of JSON. */
export function terminalJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
