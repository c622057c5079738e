import { expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import type { Database } from '../db/database.ts';
import type { IdempotencyService } from './idempotency.service.ts';
import type { KeyUse } from './idempotency-keys.store.ts';
import { idempotent } from './idempotent.ts';

test('a request with a key of the test environment does not get the response to one with a key of the live environment', async () => {
  const uses: KeyUse[] = [];
  const keys = {
    begin: async (use: KeyUse) => {
      uses.push(use);
      return { stored: { status: 201, body: {} } };
    },
  } as unknown as IdempotencyService;
  const handler = idempotent(
    {} as Database,
    keys,
    'https://video.example.com',
  )({
    prepare: () => Promise.reject(new Error('The response is stored')),
    response: () => ({ status: 201, body: {} }),
  });
  const res = { set: () => res, status: () => res, json: () => res } as unknown as Response;
  for (const environment of ['live', 'test', 'live']) {
    const req = {
      get: (name: string) => (name === 'idempotency-key' ? 'order-42' : undefined),
      credential: { kind: 'key', workspace_id: 'ws_1', environment },
      route: { path: '/videos/upload-ticket' },
      params: {},
      body: { filename: 'a.mp4' },
    } as unknown as Request;
    await handler(req, res, () => {});
  }
  const [live, inTest, again] = uses.map(({ payloadHash }) => payloadHash.toString('hex'));
  expect(inTest).not.toBe(live);
  expect(again).toBe(live);
});
