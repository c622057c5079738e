import { ConnectionError, FramelaneError } from '@framelane/client/browser';
import { expect, test } from '@jest/globals';
import { failureCode, failureWords } from './failure-words.ts';
import { DEFAULT_WORDS, wordsWith } from './words.ts';

const failure = (code: string, status?: number) =>
  new FramelaneError('As the server says.', { code, ...(status !== undefined && { status }) });

test.each([
  [new ConnectionError('https://e/'), DEFAULT_WORDS.connection],
  [failure('ticket_refused', 403), DEFAULT_WORDS.notAllowed],
  [failure('ticket_refused', 404), DEFAULT_WORDS.notSetUp],
  [failure('ticket_refused', 429), DEFAULT_WORDS.tooMany],
  [failure('ticket_refused', 500), DEFAULT_WORDS.serverFailed],
  [failure('ticket_invalid'), DEFAULT_WORDS.notSetUp],
  [failure('ticket_problem', 400), 'As the server says.'],
  [failure('quota_exceeded', 403), 'As the server says.'],
  // A server chooses its codes.
  [failure('constructor', 400), 'As the server says.'],
  [failure('file_empty'), DEFAULT_WORDS.emptyFile],
  [failure('file_unreadable'), DEFAULT_WORDS.unreadable],
  [new TypeError('internal'), DEFAULT_WORDS.serverFailed],
])('the words for %s are %j', (error, words) => expect(failureWords(error, DEFAULT_WORDS)).toBe(words));

test('a page can have words for a code', () => {
  const words = wordsWith({ 'error:quota_exceeded': 'Voll.', 'error:connection_failed': 'Weg.' });
  expect(failureWords(failure('quota_exceeded', 403), words)).toBe('Voll.');
  expect(failureWords(new ConnectionError('https://e/'), words)).toBe('Weg.');
});

test('programs get a code', () => {
  expect([failure('file_type'), new Error('x')].map(failureCode)).toEqual(['file_type', 'unknown']);
});
