import { explain } from '../explain.ts';

/** The message of an error on one line, for a list of many. */
export function inOneLine(error: unknown): string {
  return explain(error).replace(/\n */g, ' ');
}
