import { expect, test } from '@jest/globals';
import { patternMessagesOf, toFieldErrors } from './field-errors.ts';

const patterns = patternMessagesOf({
  schemas: [{ Day: { pattern: '^\\d"x$', 'x-pattern-message': 'must be a day' } }, { pattern: '^other$' }],
});

function messageFor(keyword: string, message: string): string | undefined {
  const issue = { path: '/body/x', message, errorCode: `${keyword}.openapi.validation` };
  return toFieldErrors([issue], patterns)[0]?.message;
}

test.each([
  ['required', "must have required property 'x'", 'is missing'],
  ['x-eov-type', 'must be integer', 'must be an integer'],
  ['type', 'must be string,null', 'must be a string or null'],
  ['minLength', 'must NOT have fewer than 1 characters', 'must not be empty'],
  ['minLength', 'must NOT have fewer than 3 characters', 'must have at least 3 characters'],
  ['maxLength', 'must NOT have more than 255 characters', 'must have at most 255 characters'],
  ['minItems', 'must NOT have fewer than 1 items', 'must not be empty'],
  ['maxItems', 'must NOT have more than 20 items', 'must have at most 20 entries'],
  ['maxProperties', 'must NOT have more than 50 properties', 'must have at most 50 pairs'],
  [
    'uniqueItems',
    'must NOT have duplicate items (items ## 1 and 0 are identical)',
    'must not have an entry twice',
  ],
  ['minimum', 'must be >= 60', 'must be at least 60'],
  ['minimum', 'must be >= -0.25', 'must be at least -0.25'],
  ['maximum', 'must be <= 100', 'must be at most 100'],
  ['enum', 'must be equal to one of the allowed values: live, test', 'must be one of live, test'],
  ['format', 'must match format "date"', 'must be a day that exists, such as 2026-11-21'],
  ['format', 'must match format "uri"', 'must be an absolute URL, such as https://example.com/'],
  ['format', 'must match format "unheard-of"', 'must match format "unheard-of"'],
  ['pattern', 'must match pattern "^\\d"x$"', 'must be a day'],
  ['pattern', 'must match pattern "^other$"', 'does not match the required format'],
  ['not', 'must NOT be valid', 'must NOT be valid'],
])('%s: %s', (keyword, message, words) => {
  expect(messageFor(keyword, message)).toBe(words);
});

test('each field has one error, which lists the forms it can have', () => {
  const at = (path: string, keyword: string, message: string) => ({
    path,
    message,
    errorCode: `${keyword}.openapi.validation`,
  });
  expect(
    toFieldErrors(
      [
        at('/query/from', 'pattern', 'must match pattern "^\\d"x$"'),
        at('/query/from', 'format', 'must match format "date-time"'),
        at('/query/from', 'anyOf', 'must match a schema in anyOf'),
        at('/body/tags', 'uniqueItems', 'must NOT have duplicate items (items ## 1 and 0 are identical)'),
        at('/body/tags', 'type', 'must be null'),
        at('/body/tags', 'oneOf', 'must match exactly one schema in oneOf'),
        at('/body/metadata', 'maxLength', 'must NOT have more than 40 characters'),
        at('/body/metadata', 'propertyNames', 'property name must be valid'),
      ],
      patterns,
    ),
  ).toEqual([
    {
      field: 'query/from',
      code: 'pattern',
      message: 'must be a day or must be a time that exists, such as 2026-11-21T09:00:00Z',
    },
    { field: 'body/tags', code: 'uniqueItems', message: 'must not have an entry twice' },
    { field: 'body/metadata', code: 'maxLength', message: 'has a name that must have at most 40 characters' },
  ]);
});

test('a field with invalid entries is not an error of its own', () => {
  const at = (path: string, errorCode: string, message: string) => ({ path, message, errorCode });
  expect(
    toFieldErrors(
      [
        at('/body/origins/0', 'pattern', 'must match pattern "^other$"'),
        at('/body/origins', 'type', 'must be null'),
        at('/body/origins', 'oneOf', 'must match exactly one schema in oneOf'),
      ],
      patterns,
    ),
  ).toEqual([{ field: 'body/origins/0', code: 'pattern', message: 'does not match the required format' }]);
});

test('an issue without a code keeps the message of the validator, and a summary alone gets a general message', () => {
  const summary = { path: '/body/y', message: 'must match exactly one schema in oneOf', errorCode: 'oneOf' };
  expect(toFieldErrors([{ path: '/body/x', message: 'is odd' }, summary], patterns)).toEqual([
    { field: 'body/x', code: 'invalid', message: 'is odd' },
    { field: 'body/y', code: 'oneOf', message: 'is not valid' },
  ]);
});
