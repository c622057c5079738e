import { expect, test } from '@jest/globals';
import { flawOf } from './check-expression.js';
import { EXCEPTIONS, FORMATS, isException } from './exceptions.js';
import { expressionsIn } from './find-expressions.js';
import { expressionsToCheck, valuesOf } from './sources.js';

const expressions = expressionsToCheck();

test('literals and constructions are found, with constants and without unknown values', () => {
  const text = `
    const TIME = String.raw\`(\\d+):(\\d+)\`;
    const A: RegExp = new RegExp(String.raw\`^\${TIME}$\`, 's');
    function f(name: string) { return [/a+/gi, RegExp(\`(?:^|; *)\${name}=(\\\\w+)\`), new RegExp('b' + name), new RegExp(/c/)]; }
  `;
  expect(expressionsIn(text, 'a.ts')).toEqual([
    { pattern: '^(\\d+):(\\d+)$', flags: 's' },
    { pattern: 'a+', flags: 'gi' },
    { pattern: '(?:^|; *)word=(\\w+)', flags: '' },
    { pattern: 'bword', flags: '' },
    { pattern: 'c', flags: '' },
  ]);
});

test.each([
  ['^\\s*-->(?:\\s+(.*))?$', 'm'],
  ['\\.[^/]*$', ''],
  [';\\s*([^=]+)=([^;]+)', 'g'],
  ['(\\w+:\\/\\/[^\\s:/@]*):[^\\s/@]+@', 'g'],
])('/%s/ takes more than linear time', async (pattern, flags) => {
  expect(await flawOf({ pattern, flags })).toMatch(/polynomial/);
});

test('/<[^<>]*>/ takes linear time', async () => {
  expect(await flawOf({ pattern: '<[^<>]*>', flags: 'g' })).toBeNull();
});

test('the expressions of own code, the contract and packages are checked', () => {
  const sources = expressions.map(({ source }) => source);
  for (const part of ['packages/captions/', 'services/console/', 'openapi/dist/', 'content-type/', 'qs/']) {
    expect(sources.some((source) => source.startsWith(part))).toBe(true);
  }
});

test.each(EXCEPTIONS)('the exception $source is needed', async (exception) => {
  const excepted = expressions.filter((expression) => isException(expression, [exception]));
  expect(excepted).not.toEqual([]);
  // A check of all expressions of a folder takes too long.
  if (exception.pattern === undefined) return;
  expect(await Promise.all(excepted.map(flawOf))).toContainEqual(expect.any(String));
});

test('the contract uses no other formats than those whose expressions were looked at', () => {
  expect(valuesOf('format').sort()).toEqual(FORMATS);
});
