import { expect, jest, test } from '@jest/globals';
import type { Response } from 'express';
import type { EmbedContent } from './embed.service.ts';
import { PlayerPage } from './player-page.ts';

const CONTENT: EmbedContent = {
  status: 200,
  state: { status: 'preparing', title: 'A title', progress: 0 },
  frameOrigins: ['https://www.example.com'],
  segmentOrigins: [],
  oEmbedUrl: undefined,
};

test.each([
  ['while it is being built', () => false, 'The player is being built. It appears by itself.', true],
  [
    'after its build failed',
    () => true,
    'The player could not be built. The log of Framelane says why (player.build_failed).',
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
  const page = new PlayerPage('http://framelane.test/v1', buildFailed, '/nowhere');
  page.send(res as unknown as Response, CONTENT);
  expect(res.status).toHaveBeenCalledWith(503);
  const [[html]] = res.send.mock.calls as [[string]];
  expect(html).toContain(`<p>${words}</p>`);
  expect(html.includes('http-equiv="refresh"')).toBe(reloads);
  expect(html).not.toContain('A title');
  expect(res.set).toHaveBeenCalledWith(
    'Content-Security-Policy',
    "default-src 'none'; frame-ancestors 'self' https://www.example.com",
  );
});
