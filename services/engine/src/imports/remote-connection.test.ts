import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AddressGuard } from '@framelane/address-guard/address-guard';
import { readRanges } from '@framelane/address-guard/address-ranges';
import { slowOnes } from '@framelane/test-kit/cpu-time';
import { LARGEST_HEADER, repeated, TOKENS } from '@framelane/test-kit/hostile-text';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRemote } from './remote-connection.ts';

let respond: RequestListener = (_req, res) => void res.end();
const server = createServer((req, res) => respond(req, res));
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const urlOf = (host: string) => `http://${host}:${(server.address() as AddressInfo).port}/`;

/** Requests a file. The connection may take five seconds, and so may the response headers. */
function open(headers: Record<string, string> = {}) {
  const guard = new AddressGuard({
    allowedRanges: readRanges('127.0.0.0/8') ?? [],
    publicProtocols: ['https:', 'http:'],
    resolveHost: async () => ['127.0.0.1'],
  });
  const limits = { connectSeconds: 5, headSeconds: 5 };
  const source = { url: urlOf('127.0.0.1'), headers };
  return openRemote(source, {}, { guard, limits, signal: new AbortController().signal });
}

describe('a request for a remote file', () => {
  test('fails if the server switches protocols', async () => {
    respond = (req) => {
      req.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    };
    await expect(open()).rejects.toThrow('closed without a response');
  });

  test('has the User-Agent of the import only for the origin of its URL', async () => {
    const agents: unknown[] = [];
    respond = (req, res) => {
      agents.push(req.headers['user-agent']);
      if (agents.length > 1) res.end();
      else res.writeHead(302, { Location: urlOf('other.example') }).end();
    };
    const response = await open({ 'User-Agent': 'Own/1' });
    response.destroy();
    expect(agents).toEqual(['Own/1', 'Framelane-Import/1.0']);
  });

  test('takes less than 100 ms, whatever a redirect repeats', async () => {
    const tokens = [...TOKENS, '\u00fc', '%CC%95%CC%80', '@', '#'];
    const requests = ['', 'http://', 'http://xn--'].flatMap((begin) =>
      tokens.map((token) => {
        const location = `${begin}${repeated(token, LARGEST_HEADER)}`;
        const sent = async () => {
          respond = (req, res) => {
            if (req.url === '/') res.writeHead(302, { Location: location });
            res.end();
          };
          const response = await open().catch(() => undefined);
          response?.destroy();
        };
        return [location.slice(0, 30), sent] as const;
      }),
    );
    expect(await slowOnes(requests)).toEqual([]);
  });
});
