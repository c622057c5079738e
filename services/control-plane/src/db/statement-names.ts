import { createHash } from 'node:crypto';

/** The name of each statement that connections prepare, by its text. */
const names = new Map<string, string>();

/** Has a statement prepared: what PostgreSQL makes of its text is kept by each connection that it comes through. */
export function nameStatement(text: string): void {
  // The same everywhere: a connection that a pooler hands on must not know another statement by this name.
  names.set(text, createHash('sha256').update(text).digest('hex').slice(0, 32));
}

/** What a statement is prepared as; undefined for one that is not. */
export function nameOfStatement(text: string): string | undefined {
  return names.get(text);
}
