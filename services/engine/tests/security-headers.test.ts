import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ONLY_RECEIVES, startTestEngine, type TestEngine } from './support/test-engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine({ env: ONLY_RECEIVES });
});
afterAll(() => engine.stop());

test.each([
  ['an upload', 202],
  ['a refused upload', 401],
])('the response to %s has the security headers and allows any origin', async (_, status) => {
  const token = status === 202 ? engine.controlPlane.issue().token : 'ut_unknown';
  const body = new FormData();
  body.append('file', new Blob(['any bytes']), 'a.mp4');
  const response = await fetch(`${engine.url}/upload`, {
    method: 'POST',
    headers: { 'X-Upload-Token': token, Origin: 'https://studio.example' },
    body,
  });
  expect(response.status).toBe(status);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});
