import fc, { type Arbitrary } from 'fast-check';

/** Texts that often break programs. */
const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\u202eb',
  '👩‍👩‍👧‍👦',
  'İ',
  'a\u0300'.repeat(300),
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  "'; drop table videos; --",
  '%',
  '%00',
  '\\',
  '"',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e309',
  '0x10',
  '9223372036854775808',
  '2026-02-30T00:00:00Z',
  '2026-12-31T23:59:60Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-23:59',
  '+275760-09-13T00:00:00Z',
  '\r\nX-Injected: yes',
  'https://user:password@example.com/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::ffff:10.0.0.1]/',
  'https://0x7f.1/',
  'http://2130706433/',
  'ftp://example.com/',
  'https://',
  'https://xn--',
  'javascript:alert(1)',
  'x'.repeat(5_000),
];

const NUMBERS = [
  0,
  -0,
  -1,
  0.1,
  1e21,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
];

/** Names of properties of Object.prototype. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

export function hostileText(): Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...TEXTS),
    fc.string({ unit: 'binary', maxLength: 40 }),
    // With unpaired surrogates.
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 10 })
      .map((units) => String.fromCharCode(...units)),
  );
}

/** Any JSON value, including unusual ones. */
export function hostileJson(): Arbitrary<unknown> {
  return fc.oneof(
    hostileText(),
    fc.constantFrom(...NUMBERS),
    fc.constantFrom(null, true, false, [], {}, [[]], [null]),
    fc.jsonValue({ maxDepth: 3 }),
    fc
      .tuple(fc.constantFrom(...PROTOTYPE_NAMES), fc.jsonValue({ maxDepth: 1 }))
      .map(([name, value]) => Object.fromEntries([[name, value]])),
    fc.integer({ min: 5, max: 300 }).map(nested),
  );
}

/** One segment of a path, encoded or raw. Never empty, because that would be another path. */
export function hostileSegment(): Arbitrary<string> {
  const encoded = hostileText().map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 4_000));
  return fc.oneof(
    encoded.filter((segment) => segment !== ''),
    fc.constantFrom('..', '%2e%2e', '%2F', '%5c', '%', '%zz', '%c0%af', '%ed%a0%80', '%00', ';x=1', '*', '~'),
  );
}

/** The raw query of a URL. */
export function hostileQuery(names: string[]): Arbitrary<string> {
  const name = fc.oneof(
    fc.constantFrom('limit', ...names),
    fc.constantFrom(...PROTOTYPE_NAMES),
    hostileSegment(),
  );
  const suffix = fc.constantFrom('', '', '[]', '[0]', '[a]', '[__proto__]', '.x');
  const value = fc.oneof(
    hostileText().map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 4_000)),
    fc.constantFrom('%', '%zz', '%ff', '+', '=', ',', '%2C', '[]', '{}', '&&', "'"),
  );
  const pair = fc.tuple(name, suffix, value).map(([key, end, content]) => `${key}${end}=${content}`);
  return fc.array(pair, { minLength: 1, maxLength: 4 }).map((pairs) => pairs.join('&'));
}

/** The value of a header: bytes that HTTP allows (RFC 9110 §5.5). */
export function hostileHeader(): Arbitrary<string> {
  const byte = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }));
  return fc.oneof(
    fc.array(byte, { maxLength: 40 }).map((bytes) => String.fromCharCode(...bytes)),
    fc.constantFrom('', ',', '*', '"', '0', '-1', '\t', 'Bearer', 'a'.repeat(4_000), 'ws_', 'undefined'),
  );
}

/** A body that is malformed or unusual JSON, or does not match its headers. */
export function hostileBody(): Arbitrary<{ type: string; encoding?: string; bytes: Buffer }> {
  const text = fc.oneof(
    fc.constantFrom('', '{', '}', '[]', 'null', '"text"', '0', '-0', '1e999', '{"a":1,"a":2}', '\ufeff{}'),
    fc.constantFrom('{"filename":"a.mp4"}', '{"__proto__":{"x":1}}', '{"a":"\\ud800"}', '{"a":"\\u0000"}'),
    fc.integer({ min: 10, max: 100_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
    fc.integer({ min: 10, max: 20_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    fc.integer({ min: 250_000, max: 300_000 }).map((length) => JSON.stringify({ title: 'x'.repeat(length) })),
    fc.integer({ min: 1, max: 30_000 }).map((count) => JSON.stringify({ tags: Array(count).fill('') })),
    hostileText(),
  );
  const bytes = fc.oneof(
    { weight: 8, arbitrary: text.map((content) => Buffer.from(content)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((content) => Buffer.from(content)) },
  );
  const type = fc.oneof(
    { weight: 6, arbitrary: fc.constant('application/json') },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        'application/json; charset=utf-16',
        'application/json; charset=latin1',
        'application/json; charset="',
        'application/merge-patch+json',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'text/plain',
        'json',
        '',
      ),
    },
  );
  const encoding = fc.option(fc.constantFrom('gzip', 'br', 'zstd', 'deflate', 'identity', 'none'), {
    freq: 6,
    nil: undefined,
  });
  return fc
    .record({ type, encoding, bytes })
    .map(({ encoding: coded, ...body }) => (coded === undefined ? body : { ...body, encoding: coded }));
}

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}
