import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { problemHandler, securityHeaders } from '@framelane/service-kit/middleware';
import { directoryOf, keyOf } from '@framelane/web-build/front-ends';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express, { type Express } from 'express';
import request from 'supertest';
import { DocsSite } from '../src/docs-site/docs-site.ts';
import { FrontEnd } from '../src/front-ends/front-end.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-docs-'));
});
afterEach(() => rm(folder, { recursive: true }));

function appAt(publicUrl = 'http://framelane.test', buildFailed?: () => boolean): Express {
  const app = express();
  app.disable('etag');
  app.use(securityHeaders);
  const docs = new DocsSite(new FrontEnd('docs-site', buildFailed, folder), publicUrl);
  app.use('/docs', docs.pages());
  app.get(['/llms.txt', '/llms-full.txt'], docs.forLanguageModels());
  app.use(problemHandler(createLogger({ service: 'test', level: 'silent' }), publicUrl));
  return app;
}

const LINK = '<a href="/url-of-these-docs/uploads">';

/** A build with a few files. */
async function build(): Promise<void> {
  const directory = directoryOf(folder, keyOf(folder));
  const write = async (name: string, text: string) => {
    await mkdir(join(directory, name, '..'), { recursive: true });
    await writeFile(join(directory, name), text);
  };
  await write('index.html', '');
  await write('style-hashes.json', '[]');
  await write('files/site-1.js', 'document.title = "A"');
  await write('pages/index.html', LINK);
  await write('pages/404.html', `missing ${LINK}`);
  await write('pages/uploads.html', '<a href="/url-of-the-api-reference">');
  await write('pages/uploads.md', '# Uploads\n\n[b](/url-of-these-docs/b.md)\n');
  await write('pages/errors/video_not_found.html', LINK);
  await write('pages/images/a.svg', '<svg/>');
  await write('pages/llms.txt', '- [Uploads](/url-of-these-docs/uploads.md): a\n');
  await write('pages/llms-full.txt', '# Uploads\n');
}

test('serves pages with and without extension, with a strict policy and a link to their Markdown', async () => {
  await build();
  const app = appAt();
  for (const path of ['/docs/uploads', '/docs/uploads.html', '/docs/uploads?a=b']) {
    const { status, text, headers } = await request(app).get(path);
    expect([path, status, text]).toEqual([path, 200, '<a href="/v1/docs">']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      link: '</docs/uploads.md>; rel="alternate"; type="text/markdown"',
    });
  }
  expect((await request(app).get('/docs/errors/video_not_found')).text).toBe('<a href="/docs/uploads">');
  const root = await request(app).get('/docs');
  expect([root.status, root.headers.location]).toEqual([308, '/docs/']);
  const slash = await request(app).get('/docs/uploads/');
  expect([slash.status, slash.headers.location]).toEqual([308, '/docs/uploads']);
  expect((await request(app).get('/docs/')).text).toBe('<a href="/docs/uploads">');
  const slashed = await request(app).get('/docs/errors/video_not_found/');
  expect([slashed.status, slashed.headers.location]).toEqual([308, '/docs/errors/video_not_found']);
});

test('responds to HEAD, revalidates, and compresses', async () => {
  await build();
  const app = appAt();
  const head = await request(app).head('/docs/uploads');
  expect([head.status, head.text]).toEqual([200, undefined]);
  const first = await request(app).get('/docs/uploads').set('Accept-Encoding', 'br');
  expect(first.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
  expect(first.text).toBe('<a href="/v1/docs">');
  const again = await request(app)
    .get('/docs/uploads')
    .set({ 'Accept-Encoding': 'br', 'If-None-Match': first.headers.etag ?? '' });
  expect(again.status).toBe(304);
  const file = await request(app).get('/docs/files/site-1.js');
  expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await request(app).get('/docs/images/a.svg')).headers['content-type']).toBe('image/svg+xml');
});

test('an unknown path has a page that says so', async () => {
  await build();
  for (const path of [
    '/docs/nothing',
    '/docs/404',
    '/docs//',
    '/docs/errors',
    '/docs/errors/',
    '/docs/..%2fpackage.json',
  ]) {
    const { status, text, headers } = await request(appAt()).get(path);
    expect([path, status, text]).toEqual([path, 404, 'missing <a href="/docs/uploads">']);
    expect(headers.link).toBeUndefined();
  }
  expect((await request(appAt()).post('/docs/uploads')).body.code).toBe('route_not_found');
});

test('texts for programs have whole URLs, also if the public URL has a path', async () => {
  await build();
  const app = appAt('https://example.com/framelane');
  const markdown = await request(app).get('/docs/uploads.md');
  expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
  expect(markdown.text).toContain('[b](https://example.com/framelane/docs/b.md)');
  const index = await request(app).get('/llms.txt');
  expect(index.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(index.text).toContain('(https://example.com/framelane/docs/uploads.md)');
  expect((await request(app).get('/llms-full.txt')).status).toBe(200);
  expect((await request(app).get('/docs/')).text).toBe('<a href="/framelane/docs/uploads">');
  expect((await request(app).get('/docs')).headers.location).toBe('/framelane/docs/');
});

test('without a build, the response says why', async () => {
  const { status, text } = await request(appAt()).get('/docs/uploads');
  expect([status, text]).toEqual([503, expect.stringContaining('The documentation was not built.')]);
  expect((await request(appAt('http://framelane.test', () => true)).get('/llms.txt')).status).toBe(503);
});
