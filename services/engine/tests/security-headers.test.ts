import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestEngine, type TestEngine } from './support/test-engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());

test.each([
  ['an upload', 202],
  ['a refusal', 401],
])('%s says what browsers may do with the answer, and pages of any origin may read it', async (_, status) => {
  const token = status === 202 ? engine.controlPlane.issue().token : 'ut_unknown';
  const body = new FormData();
  body.append('file', new Blob(['any bytes']), 'a.mp4');
  const answer = await fetch(`${engine.url}/upload`, {
    method: 'POST',
    headers: { 'X-Upload-Token': token, Origin: 'https://studio.example' },
    body,
  });
  expect(answer.status).toBe(status);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});
