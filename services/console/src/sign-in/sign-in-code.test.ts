import { expect, test } from '@jest/globals';
import { takeCode } from './sign-in-code.ts';

function take(hash: string) {
  const replaced: unknown[] = [];
  const history = {
    state: null,
    replaceState: (_state: unknown, _title: string, url: unknown) => void replaced.push(url),
  };
  const code = takeCode({ hash, pathname: '/console/', search: '?q=a' }, history);
  return { code, replaced };
}

test('takes the code and removes it from the address', () => {
  expect(take('#code=abc-123')).toEqual({ code: 'abc-123', replaced: ['/console/?q=a'] });
});

test.each(['', '#', '#code=', '#other=1'])('%p has no code and stays', (hash) => {
  expect(take(hash)).toEqual({ code: undefined, replaced: [] });
});
