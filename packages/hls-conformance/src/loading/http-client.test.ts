import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { HttpClient } from './http-client.ts';

test('a request is sent again once if a connection that is reused is lost, then throws its error', async () => {
  const paths: string[] = [];
  const server = createServer((req, res) => {
    paths.push(req.url ?? '');
    if (req.url === '/lost') req.socket.destroy();
    else res.end('kept alive');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new HttpClient({ origin, timeoutMs: 5000 });
  try {
    // Two connections stay open.
    const opened = await Promise.all([client.request(origin), client.request(origin)]);
    await Promise.all(opened.map(({ body }) => buffer(body)));
    await expect(client.request(`${origin}/lost`)).rejects.toThrow('socket hang up');
    expect(paths).toEqual(['/', '/', '/lost', '/lost']);
  } finally {
    client.close();
    server.closeAllConnections();
    server.close();
  }
});
