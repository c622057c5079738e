import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ServiceClient } from './service-client.ts';

const schema = z.object({ name: z.string() });
const CREDENTIALS = { Authorization: 'Bearer top-secret' };

function clientOf({ url }: FakeService, pauses: number[] = []): ServiceClient {
  return new ServiceClient({
    name: 'Example',
    baseUrl: url,
    headers: CREDENTIALS,
    denied: 'Check EXAMPLE_TOKEN.',
    signal: AbortSignal.timeout(60_000),
    pause: async (ms) => void pauses.push(ms),
  });
}

async function get(route: ServiceRoute, pauses?: number[]): Promise<{ name: string }> {
  await using service = await FakeService.start({ 'GET /': route });
  return await clientOf(service, pauses).get('/', schema);
}

test('a request has the credentials', async () => {
  await using service = await FakeService.start({ 'GET /a': { body: { name: 'x', other: 1 } } });
  expect(await clientOf(service).get('/a', schema, { limit: 2, none: undefined })).toEqual({ name: 'x' });
  expect(service.requests[0]?.headers.authorization).toBe('Bearer top-secret');
  expect(String(service.requests[0]?.query)).toBe('limit=2');
});

test.each<[string, ServiceRoute, RegExp]>([
  ['a web page', { body: '<!doctype html><title>Login</title>' }, /is a web page\. Check the URL/],
  ['not JSON', { body: 'name: x' }, /is not JSON/],
  ['a missing field', { body: { title: 'x' } }, /not as documented: name: /],
  ['a field of another type', { body: { name: 7 } }, /not as documented: name: /],
  ['not UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, /is not UTF-8/],
  ['refused credentials', { status: 401 }, /refuses the request \(status 401\)\. Check EXAMPLE_TOKEN/],
  ['a redirect of itself', (request) => ({ status: 302, headers: { Location: request.path } }), /redirects/],
  [
    'a redirect to a file',
    { status: 302, headers: { Location: 'file:///etc/passwd' } },
    /not a URL of a web/,
  ],
  [
    'a redirect into a private network',
    { status: 302, headers: { Location: 'http://169.254.169.254/latest/meta-data/' } },
    /169\.254\.169\.254, which is in a private network/,
  ],
])('the response is %s', async (_, route, message) => {
  await expect(get(route)).rejects.toThrow(message);
});

test('an endless response is read up to a limit', async () => {
  let sent = 0;
  const endless: ServiceRoute = (_, response) => {
    const chunk = Buffer.alloc(1024 ** 2, ' ');
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    response.on('drain', more);
    more();
    return undefined;
  };
  await expect(get(endless)).rejects.toThrow('has more than 16 MiB');
  expect(sent).toBeLessThan(100 * 1024 ** 2);
});

test('rate limits and temporary errors are repeated after the pause that the service asks for', async () => {
  const replies = [
    { status: 429, headers: { 'Retry-After': '7' } },
    { status: 429, headers: { 'X-RateLimit-Retry-After': '9' } },
    { status: 503 },
    { body: { name: 'x' } },
  ];
  const pauses: number[] = [];
  expect(await get(() => replies.shift() ?? {}, pauses)).toEqual({ name: 'x' });
  expect(pauses.slice(0, 2)).toEqual([7000, 9000]);
  expect(pauses).toHaveLength(3);
});

test('an error that stays is reported without the query of the URL', async () => {
  const pauses: number[] = [];
  await expect(get({ status: 502 }, pauses)).rejects.toThrow('Example responds with the status 502.');
  expect(pauses).toHaveLength(4);
});

test('a redirect to another origin has no credentials', async () => {
  await using other = await FakeService.start({ 'GET /': { body: { name: 'x' } } });
  await using service = await FakeService.start({
    'GET /': { status: 302, headers: { Location: `${other.url}/` } },
  });
  await clientOf(service).get('/', schema);
  expect(other.requests[0]?.headers.authorization).toBeUndefined();
});

test('text of a URL that the service names is fetched without credentials', async () => {
  await using service = await FakeService.start({ 'GET /a.vtt': { body: 'WEBVTT' } });
  expect(await clientOf(service).textAt(`${service.url}/a.vtt`)).toBe('WEBVTT');
  expect(service.requests[0]?.headers.authorization).toBeUndefined();
});
