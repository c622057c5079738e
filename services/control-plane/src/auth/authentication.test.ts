import { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { ConcurrencyLimit } from '../rate-limits/concurrency-limit.ts';
import { FailureLimit } from '../rate-limits/failure-limit.ts';
import { RequestLimit } from '../rate-limits/request-limit.ts';
import { authentication, type VerifiedKey, type VerifiedSession } from './authentication.ts';
import { SessionCookie } from './session-cookie.ts';

const IN_TEST = {
  workspace_id: 'ws_1',
  permissions: [],
  environment: 'test',
  environments: ['test'],
} as unknown as VerifiedKey & VerifiedSession;

/** Every key and every session is valid, in the environment `test` of one workspace. Its id is what the request sends. */
const authenticate = authentication(
  {
    keys: { verify: async (secret) => ({ ...IN_TEST, id: secret }) },
    sessions: { verify: async (token) => [{ ...IN_TEST, id: token }] },
  },
  new SessionCookie('http://framelane.test'),
  { requests: new RequestLimit(0), failures: new FailureLimit(0), concurrency: new ConcurrencyLimit(100) },
);

/** A GET request. The names of `headers` are in lower case. */
function requestWith(headers: Record<string, string>): Request {
  const get = (name: string) => headers[name.toLowerCase()];
  const req = { method: 'GET', headers, get, ip: '127.0.0.1', socket: {} } as unknown as Request;
  return Object.assign(req, { res: new ServerResponse(req) as Response });
}

test.each(['Bearer a', 'bearer  a'])('a key is the word after Bearer: %j', async (authorization) => {
  const req = requestWith({ authorization, 'x-svc-workspace': 'ws_1' });
  await authenticate(req, []);
  expect(req.credential).toMatchObject({ kind: 'key', id: 'a', environment: 'test' });
});

test.each(['Bearer', 'Bearer a b', 'Bearera', 'Basic Bearer a'])(
  'other credentials are no key: %j',
  async (authorization) => {
    const req = requestWith({ authorization, 'x-svc-workspace': 'ws_1' });
    await expect(authenticate(req, [])).rejects.toMatchObject({ code: 'missing_api_key' });
  },
);

test('an operation for sessions only ignores an environment that the session lacks; others refuse it', async () => {
  const req = requestWith({ cookie: 'framelane=token', 'x-framelane-environment': 'live' });
  await authenticate(req, [], { acceptsKeys: false });
  expect(req.credential).toMatchObject({ kind: 'session', id: 'token', environment: 'test' });
  await expect(authenticate(req, [])).rejects.toMatchObject({ code: 'environment_mismatch' });
});
