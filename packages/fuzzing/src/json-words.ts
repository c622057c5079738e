/** Words of JSON that parsers mishandle. */
export const JSON_WORDS: readonly string[] = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  'null',
  'true',
  '1e400',
  '-0',
  '0.1',
  '"__proto__":',
  '\\u0000',
  '\\ud800',
  '2026-01-01T00:00:00.000Z',
];
