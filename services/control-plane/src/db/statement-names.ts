/** The name of each statement that connections prepare, by its text. */
const names = new Map<string, string>();

/** Has a statement prepared: what PostgreSQL makes of its text is kept by each connection that it comes through. */
export function nameStatement(text: string): void {
  if (!names.has(text)) names.set(text, `statement_${names.size + 1}`);
}

/** What a statement is prepared as; undefined for one that is not. */
export function nameOfStatement(text: string): string | undefined {
  return names.get(text);
}
