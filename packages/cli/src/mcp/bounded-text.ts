/** Characters of a result. More would fill the context of the model. */
export const LONGEST_RESULT = 50_000;

/** A text of at most `LONGEST_RESULT` characters, which says what is missing. */
export function boundedText(text: string): string {
  if (text.length <= LONGEST_RESULT) return text;
  return (
    `${text.slice(0, LONGEST_RESULT)}\n[${text.length - LONGEST_RESULT} more characters were left out. ` +
    'Ask for fewer entries with "limit", or for a single one.]'
  );
}
