import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { OpenIdProvider } from './openid-provider.ts';

/** The reason why a sign-in fails when the token endpoint responds like this. */
async function reasonAfter(respond: RequestListener): Promise<unknown> {
  let issuer = '';
  const server = createServer((req, res) => {
    if (req.url === '/token') return respond(req, res);
    const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
    return res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(metadata));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const provider = new OpenIdProvider(
      { issuer, clientId: 'framelane', clientSecret: 'tests-only-client-secret', name: 'Acme' },
      'https://video.example/console/sign-in/callback',
    );
    const { pending } = await provider.begin();
    return await provider.complete(`?code=x&state=${pending.state}`, pending).then(
      () => undefined,
      (error) => error.options.extra.reason,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a refused client is a misconfiguration, also if the provider sends the header WWW-Authenticate', async () => {
  const json = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ error: 'invalid_client' });
  expect(await reasonAfter((_req, res) => res.writeHead(401, json).end(body))).toBe('misconfigured');
  const headers = { ...json, 'WWW-Authenticate': 'Basic realm="clients"' };
  expect(await reasonAfter((_req, res) => res.writeHead(401, headers).end(body))).toBe('misconfigured');
});

test('a response of any length ends after a mebibyte', async () => {
  let sent = 0;
  const body = function* () {
    yield '{';
    for (; sent < 64; sent += 1) yield ' '.repeat(2 ** 20);
    yield '}';
  };
  const reason = await reasonAfter((_req, res) => {
    Readable.from(body(), { objectMode: false }).pipe(
      res.writeHead(200, { 'Content-Type': 'application/json' }),
    );
  });
  expect(reason).toBe('unavailable');
  expect(sent).toBeLessThan(32);
});
