import { expect, test } from '@jest/globals';
import { loggedRequestHeaders, loggedResponseHeaders } from './logged-headers.ts';

const SECRETS = {
  ...{
    authorization: 'Bearer svc_live_x',
    cookie: 'a=b',
    'proxy-authorization': 'Basic eA==',
    'x-upload-token': 'ut_x',
  },
  ...{
    'idempotency-key': 'k',
    referer: 'https://a/?token=b',
    'x-forwarded-for': '10.0.0.1',
    'x-amz-security-token': 'x',
  },
  ...{ 'set-cookie': ['a=b'], location: '/?token=x', link: '</?token=x>' },
};

test('only headers without credentials are stored', () => {
  expect(loggedRequestHeaders({ ...SECRETS, 'user-agent': 'curl/8', 'x-svc-workspace': 'ws_1' })).toEqual({
    'user-agent': 'curl/8',
    'x-svc-workspace': 'ws_1',
  });
  expect(loggedResponseHeaders({ ...SECRETS, 'content-length': 5, etag: 'W/"a"' })).toEqual({
    'content-length': '5',
    etag: 'W/"a"',
  });
});

test('a secret in another header is left out, and a long value is cut', () => {
  const agent = `${'a'.repeat(10)} svc_test_${'B'.repeat(43)} ${'c'.repeat(400)}`;
  const { 'user-agent': stored = '' } = loggedRequestHeaders({ 'user-agent': agent });
  expect(stored).toMatch(/^a{10} \[secret\] c+$/);
  expect(stored.length).toBeLessThanOrEqual(300);
});
