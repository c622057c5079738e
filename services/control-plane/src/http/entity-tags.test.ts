import { createServer } from 'node:http';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import express, { type Response } from 'express';
import type { Contract } from './contract.ts';
import { EntityTags, sendTagged, sendUnchanged, setEntityTag, taggedBody } from './entity-tags.ts';

const CONTRACT: Contract = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: {},
  components: {},
  servers: [{ url: 'http://framelane.test/v1' }],
};

const VERSION = 'W/"version"';

const app = express();
app.get('/body', (_req, res) => sendTagged(res, 'content'));
app.get('/other-body', (_req, res) => sendTagged(res, Buffer.from('other content')));
app.get('/tagged', (_req, res) => void setEntityTag(res, VERSION).send('content'));
const constant = taggedBody('content');
app.get('/constant', (_req, res) => constant(res));
/** What `sendUnchanged` returned for the latest request. */
let isUnchanged: boolean | undefined;
// It does not set the ETag itself: with that, Express would respond with 304, too.
app.get('/version', (req, res) => {
  isUnchanged = sendUnchanged(req, res, VERSION);
  if (!isUnchanged) res.send('content');
});
const server = createServer(app);
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' })}`;
});
afterAll(() => closeServer(server, 0));

/** The status, the body and the headers for caches of a response. */
async function get(path: string, knownTags?: string) {
  const response = await fetch(`${url}${path}`, {
    // As browsers send it. Without this header, fetch sends `no-cache`, for which Express does not respond with 304.
    headers: { 'Cache-Control': 'max-age=0', ...(knownTags !== undefined && { 'If-None-Match': knownTags }) },
  });
  return {
    status: response.status,
    body: await response.text(),
    etag: response.headers.get('etag'),
    cacheControl: response.headers.get('cache-control'),
  };
}

describe('the ETag of rows', () => {
  const tags = new EntityTags(CONTRACT);

  test('is weak, and the same for the same versions', () => {
    expect(tags.of(['1', '2'])).toMatch(/^W\/"[\w-]{27}"$/);
    expect(tags.of(['1', '2'])).toBe(new EntityTags({ ...CONTRACT }).of(['1', '2']));
  });

  test('differs for other versions, and in another order', () => {
    const versions = [[], ['1'], ['1', '2'], ['2', '1'], ['12']];
    expect(new Set(versions.map((each) => tags.of(each))).size).toBe(versions.length);
  });

  test('differs for another contract', () => {
    const other = new EntityTags({ ...CONTRACT, servers: [{ url: 'http://other.test/v1' }] });
    expect(other.of(['1'])).not.toBe(tags.of(['1']));
  });
});

describe('a body with its ETag', () => {
  test('is sent, or 304 if the client has it', async () => {
    const sent = await get('/body');
    expect(sent).toMatchObject({ status: 200, body: 'content' });
    expect(sent.etag).toMatch(/^W\/"[\w-]{27}"$/);
    expect(await get('/body', String(sent.etag))).toMatchObject({ status: 304, body: '', etag: sent.etag });
  });

  test('can be prepared for all responses, which share its bytes', async () => {
    expect(await get('/constant')).toEqual(await get('/body'));
    const { etag } = await get('/constant');
    expect(await get('/constant', String(etag))).toMatchObject({ status: 304, body: '', etag });
    const send = jest.fn();
    const response = { set: () => ({ send }) } as unknown as Response;
    constant(response);
    constant(response);
    const [[first], [second]] = send.mock.calls as [[unknown], [unknown]];
    expect(first).toBeInstanceOf(Buffer);
    expect(second).toBe(first);
  });

  test('has another one if it is another body', async () => {
    const [{ etag }, other] = [await get('/body'), await get('/other-body')];
    expect(other).toMatchObject({ status: 200, body: 'other content' });
    expect(other.etag).not.toBe(etag);
    expect(await get('/other-body', String(etag))).toMatchObject({ status: 200 });
  });
});

describe('a version', () => {
  const headers = { etag: VERSION, cacheControl: 'private, no-cache' };

  test.each([VERSION, `"a", ${VERSION}`, `${VERSION},"b"`, `"a" , ${VERSION} , "b"`])(
    'is 304 if the client has it: %s',
    async (known) => {
      expect(await get('/version', known)).toEqual({ status: 304, body: '', ...headers });
      expect(isUnchanged).toBe(true);
    },
  );

  test.each([undefined, '', 'W/"versions"', '"a", "b"'])(
    'is sent if the client has another one: %s',
    async (known) => {
      expect(await get('/version', known)).toMatchObject({
        status: 200,
        body: 'content',
        cacheControl: null,
      });
      expect(isUnchanged).toBe(false);
    },
  );

  test('is sent with its ETag, and must be revalidated', async () => {
    expect(await get('/tagged')).toEqual({ status: 200, body: 'content', ...headers });
  });
});
