/** Characters that move the cursor, or that reorder text (Unicode Standard Annex #9), and line separators. */
const REORDERING = String.raw`\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029`;
const UNSAFE = new RegExp(String.raw`[\p{Cc}${REORDERING}]`, 'gu');
/** JSON.stringify escapes control characters below U+0020 in strings; the others are indentation and newlines. */
const UNSAFE_IN_JSON = new RegExp(String.raw`[\u007F-\u009F${REORDERING}]`, 'gu');

/** Makes text of others, such as a title, safe to print on one line. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Makes JSON safe to print, with JSON's own escapes: its value stays the same. */
export function terminalJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
