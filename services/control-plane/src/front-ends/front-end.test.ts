import { expect, jest, test } from '@jest/globals';
import type { Response } from 'express';
import { FrontEnd } from './front-end.ts';

test.each([
  ['while it is being built', () => false, 'The player is being built. This page reloads itself.', true],
  [
    'after its build failed',
    () => true,
    'The player could not be built. The log of Framelane says why (pages.build_failed).',
    false,
  ],
  [
    'where nothing builds it',
    undefined,
    'The player was not built. Build it with: node packages/web-build/src/main.ts',
    false,
  ],
])('%s, the page says so', (_, buildFailed, words, reloads) => {
  const res = { type: jest.fn(), set: jest.fn(), status: jest.fn(), send: jest.fn() };
  for (const method of Object.values(res)) method.mockReturnValue(res);
  const frontEnd = new FrontEnd('player', buildFailed, '/nowhere');
  frontEnd.sendMissing(res as unknown as Response, "frame-ancestors 'self' https://www.example.com");
  expect(frontEnd.build()).toBeUndefined();
  expect(res.status).toHaveBeenCalledWith(503);
  const [[html]] = res.send.mock.calls as [[string]];
  expect(html).toContain(`<p>${words}</p>`);
  expect(html.includes('http-equiv="refresh"')).toBe(reloads);
  expect(res.set).toHaveBeenCalledWith({
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'self' https://www.example.com",
    'Retry-After': '2',
  });
});
