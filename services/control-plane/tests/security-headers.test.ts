import { newId } from '@framelane/contracts/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const master = () => `/v1/hls/${newId('ws')}/${newId('vid')}/master.m3u8`;

test.each([
  ['a response', () => request(plane.url).get('/v1/auth/whoami').set(plane.credentials), 200, 'same-origin'],
  ['a refusal', () => request(plane.url).get('/v1/auth/whoami'), 401, 'same-origin'],
  ['a path that does not exist', () => request(plane.url).get('/nowhere'), 404, 'same-origin'],
  ['a health check', () => request(plane.url).get('/healthz'), 200, 'same-origin'],
  ['a stream that does not exist', () => request(plane.url).get(master()), 404, 'cross-origin'],
])('%s has its security headers', async (_, call, status, resourcePolicy) => {
  const response = await call();
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': resourcePolicy,
  });
  expect(response.headers).not.toHaveProperty('x-powered-by');
});

test('a stream can be played in any page, also a cross-origin isolated one', async () => {
  const { videoId } = await plane.readyVideo();
  const response = await request(plane.url)
    .get(`/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`)
    .set('Origin', 'https://player.example');
  expect(response.status).toBe(200);
  expect(response.headers['access-control-allow-origin']).toBe('*');
  expect(response.headers['cross-origin-resource-policy']).toBe('cross-origin');
});
