import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { problemHandler, securityHeaders } from '@framelane/service-kit/middleware';
import { directoryOf, FILES_PATH, keyOf } from '@framelane/web-build/front-ends';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express, { type Express } from 'express';
import request from 'supertest';
import { consolePage } from '../src/console/console-page.ts';
import { FrontEnd } from '../src/front-ends/front-end.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-console-'));
  await writeFile(join(folder, 'index.html'), '<!doctype html>');
});
afterEach(() => rm(folder, { recursive: true }));

/** An application with the console in the folder. */
function appAt(
  publicUrl = 'http://framelane.test',
  buildFailed?: () => boolean,
  providerName?: string,
): Express {
  const app = express();
  app.use(securityHeaders);
  const urls = { publicUrl, engineUrl: 'http://engine.framelane.test:8090/engine', providerName };
  app.use('/console', consolePage(new FrontEnd('console', buildFailed, folder), urls));
  app.use(problemHandler(createLogger({ service: 'test', level: 'silent' }), 'https://video.example.com'));
  return app;
}

/** A build with one script. */
async function build(): Promise<void> {
  const directory = directoryOf(folder, keyOf(folder));
  await mkdir(join(directory, 'files'), { recursive: true });
  await writeFile(join(directory, 'index.html'), `<script src="${FILES_PATH}files/a-1.js"></script>`);
  await writeFile(join(directory, 'style-hashes.json'), '[]');
  await writeFile(join(directory, 'files/a-1.js'), 'document.title = "A"');
}

test('every path without an extension returns the page, with a strict policy that allows no other origin but the engine', async () => {
  await build();
  const app = appAt();
  for (const path of ['/console', '/console/', '/console/videos/vid_1?q=a.b', '/console/a.b/c']) {
    const { status, text, headers } = await request(app).get(path);
    expect([path, status, text]).toEqual([path, 200, '<script src="/console/files/a-1.js"></script>']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
        "connect-src 'self' http://engine.framelane.test:8090; frame-src 'self'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    });
  }
  expect((await request(app).head('/console/')).status).toBe(200);
  expect((await request(appAt('https://example.com/framelane')).get('/console/')).text).toContain(
    'src="/framelane/console/files/a-1.js"',
  );
});

test('the page contains the escaped name of the sign-in provider', async () => {
  await build();
  await writeFile(join(directoryOf(folder, keyOf(folder)), 'index.html'), '<head></head>');
  const html = async (providerName?: string) =>
    (await request(appAt('http://framelane.test', undefined, providerName)).get('/console/')).text;
  expect(await html()).toBe('<head></head>');
  expect(await html('A"><script>$&')).toBe(
    '<head><meta name="sign-in-provider" content="A&quot;&gt;&lt;script&gt;$&amp;">\n</head>',
  );
});

test('the files of the page can be cached forever; other paths do not exist', async () => {
  await build();
  const app = appAt();
  const file = await request(app).get('/console/files/a-1.js');
  expect([file.status, file.headers['cache-control'], file.headers['content-type']]).toEqual([
    200,
    'public, max-age=31536000, immutable',
    'text/javascript; charset=utf-8',
  ]);
  for (const path of ['files/none.js', 'files/..%2Findex.html', 'files/', 'favicon.ico', 'videos/a.js']) {
    const { status, body } = await request(app).get(`/console/${path}`);
    expect([path, status, body.code]).toEqual([path, 404, 'route_not_found']);
  }
  const { status, body } = await request(app).post('/console/');
  expect([status, body.code]).toEqual([404, 'route_not_found']);
});

test('without a build, the page is a 503 with the reason, until a build exists', async () => {
  const app = appAt('http://framelane.test', () => false);
  const { status, text, headers } = await request(app).get('/console/videos');
  expect([status, headers['retry-after'], headers['cache-control']]).toEqual([503, '2', 'no-store']);
  expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(text).toContain('<p>The console is being built. This page reloads itself.</p>');
  expect((await request(app).get('/console/files/a-1.js')).status).toBe(404);
  await build();
  expect((await request(app).get('/console/videos')).status).toBe(200);
});
