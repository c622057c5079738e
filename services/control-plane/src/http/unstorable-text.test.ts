import { invalidField } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import { refuseUnstorableText } from './unstorable-text.ts';

test.each([undefined, null, 0, '', 'a', '🎬', '\\u0000', ['a', { b: ['c'] }], Buffer.from([0])])(
  '%j can be stored',
  (value) => {
    expect(() => refuseUnstorableText(value, 'body')).not.toThrow();
  },
);

const MESSAGE = 'must not contain the character NUL or half of a surrogate pair';
test.each<[unknown, string, string]>([
  ['a\0', 'body', MESSAGE],
  ['\ud800', 'body', MESSAGE],
  [{ a: ['b', '\0'] }, 'body/a/1', MESSAGE],
  [{ a: { '\udfff': 1 } }, 'body/a', `has a name that ${MESSAGE}`],
])('%j cannot', (value, field, message) => {
  expect(() => refuseUnstorableText(value, 'body')).toThrow(invalidField(field, 'pattern', message));
});
