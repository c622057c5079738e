/** Each is repeated in tests: what parsers of headers, paths, queries and forms split, skip or decode. */
export const TOKENS: readonly string[] = [
  ...[
    ' ',
    '\t',
    ';',
    '; ',
    ';a',
    '; a=',
    ',',
    ', ',
    '=',
    '"',
    '\\',
    'a',
    'a=',
    'a="',
    'q=0.5,',
    '*',
    '(',
    '-',
  ],
  ...[
    '0',
    '0-,',
    'bytes=0-,',
    'W/"a",',
    '"a",',
    ':',
    '::',
    '%',
    '%25',
    '/',
    '.',
    './',
    '..',
    '/.',
    'Bearer ',
  ],
  ...['&', '[a]'],
];

/** Node accepts 16 KiB of headers; the rest of a request or response has some. */
export const LARGEST_HEADER = 15_000;

/** A text of at most this length. */
export function repeated(token: string, length: number): string {
  return token.repeat(Math.floor(length / token.length));
}

/** Values of the largest size for a header. The last character makes an expression fail at the end. */
export const HOSTILE_VALUES: readonly string[] = TOKENS.map(
  (token) => `${token}${repeated(token, LARGEST_HEADER)}\u00ff`,
);
