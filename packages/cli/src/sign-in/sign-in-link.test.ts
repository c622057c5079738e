import { expect, test } from '@jest/globals';
import { readSignInLink } from './sign-in-link.ts';

test.each([
  ['http://localhost:8080/console/#code=console_code_a', 'http://localhost:8080/v1', 'http://localhost:8080'],
  [
    ' https://video.test/framelane/console/#code=console_code_a\n',
    'https://video.test/framelane/v1',
    'https://video.test',
  ],
])('reads %p', (link, baseUrl, origin) => {
  expect(readSignInLink(link)).toEqual({ baseUrl, origin, code: 'console_code_a' });
});

test.each([
  '',
  'console_code_a',
  'https://video.test/console/',
  'https://video.test/console/#code=',
  'https://video.test/v1#code=a',
  'file:///console/#code=a',
])('refuses %p without repeating it', (link) => {
  expect(() => readSignInLink(link)).toThrow(
    /^This is not a sign-in link\. It looks like https:\/\/video\.example\.com/,
  );
});
