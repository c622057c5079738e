import { FramelaneError } from '@framelane/client/browser';
import type { WordName, Words } from './words.ts';

/** The codes of files that are not sent, and of a page that is not complete, with their texts. */
const OWN: ReadonlyMap<string, WordName> = new Map(
  Object.entries({
    file_type: 'fileType',
    file_empty: 'emptyFile',
    folder: 'folder',
    endpoint_missing: 'notSetUp',
    ticket_invalid: 'notSetUp',
    connection_failed: 'connection',
    upload_incomplete: 'connection',
    file_unreadable: 'unreadable',
    unexpected_response: 'serverFailed',
  }),
);

/** The texts of a ticket endpoint that says nothing for people. */
const BY_STATUS: Readonly<Record<number, WordName>> = {
  401: 'notAllowed',
  403: 'notAllowed',
  404: 'notSetUp',
  405: 'notSetUp',
  429: 'tooMany',
};

/**
 * What is wrong and what to do, for the user of the page: the text that the page has for the code, a text of the uploader, or the detail of the
 * problem of Framelane or of the page's server.
 */
export function failureWords(error: unknown, words: Words): string {
  if (!(error instanceof FramelaneError)) return words.serverFailed;
  const { code, status, message } = error;
  const ofPage = words[`error:${code}`];
  if (ofPage !== undefined) return ofPage;
  const name =
    OWN.get(code) ?? (code === 'ticket_refused' ? (BY_STATUS[status ?? 0] ?? 'serverFailed') : undefined);
  return name === undefined ? message : words[name];
}

/** For programs. */
export function failureCode(error: unknown): string {
  return error instanceof FramelaneError ? error.code : 'unknown';
}
