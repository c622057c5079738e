import { expect, test } from '@jest/globals';
import { reasonOf } from './reason.ts';

test.each([
  ['a message', new Error('refused'), 'refused'],
  ['the innermost cause', new Error('a', { cause: new Error('b', { cause: new Error('c') }) }), 'c'],
  ['the first of several addresses', new AggregateError([new Error('first'), new Error('second')]), 'first'],
  ['only a code', Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ['nothing but a name', new TypeError(''), 'TypeError'],
  ['no error', 'text', 'text'],
])('the reason of an error with %s', (_, error, reason) => expect(reasonOf(error)).toBe(reason));
