import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Schemas, unwrap } from '@framelane/client';
import { afterEach, expect } from '@jest/globals';
import type { HTTPRequest, Page } from 'puppeteer-core';
import {
  admin,
  click,
  heading,
  inspect,
  openConsole,
  problemsOf,
  publicUrl,
  signInLink,
  target,
  testInBrowser,
  untilText,
  useConsole,
} from '../src/console.ts';

type Permission = Schemas['Permission'];
type ConsolePage = {
  path: string;
  needs: Permission | 'administrator';
  /** The buttons that only a session with this second permission has. */
  controls?: { needs: Permission; names: string[] };
  /** Whether the page shows a text that a user can set. */
  showsTexts: boolean;
};

/** Every page with a link in the navigation, by the name of the link, in order. docs/console.md has the same pages. */
const PAGES: Record<string, ConsolePage> = {
  Home: {
    path: '/',
    needs: 'videos:read',
    controls: { needs: 'videos:write', names: ['Upload files'] },
    showsTexts: false,
  },
  Videos: {
    path: '/videos',
    needs: 'videos:read',
    controls: { needs: 'videos:write', names: ['Upload files'] },
    showsTexts: true,
  },
  Analytics: { path: '/analytics', needs: 'analytics:read', showsTexts: false },
  Webhooks: {
    path: '/webhooks',
    needs: 'webhooks:read',
    controls: { needs: 'webhooks:write', names: ['Create webhook'] },
    showsTexts: true,
  },
  Keys: {
    path: '/keys',
    needs: 'api_keys:read',
    controls: { needs: 'api_keys:write', names: ['Create key', 'Revoke …'] },
    showsTexts: true,
  },
  Usage: { path: '/usage', needs: 'usage:read', showsTexts: false },
  Sessions: {
    path: '/sessions',
    needs: 'api_keys:read',
    controls: { needs: 'api_keys:write', names: ['Sign out everywhere', 'End …'] },
    showsTexts: true,
  },
  Requests: { path: '/requests', needs: 'requests:read', showsTexts: false },
  Audit: { path: '/audit', needs: 'audit:read', showsTexts: true },
  System: { path: '/system', needs: 'administrator', showsTexts: false },
};

/** The links in the navigation of a session with only this permission. */
const LINKS: Record<Permission, string[]> = {
  'videos:read': ['Home', 'Videos'],
  'videos:write': [],
  'webhooks:read': ['Webhooks'],
  'webhooks:write': [],
  'api_keys:read': ['Keys', 'Sessions'],
  'api_keys:write': [],
  'usage:read': ['Usage'],
  'requests:read': ['Requests'],
  'audit:read': ['Audit'],
  'analytics:read': ['Analytics'],
};
const PERMISSIONS = Object.keys(LINKS) as Permission[];

/** Would run a script, and break attributes, if a page did not escape it. */
const HOSTILE = `"'><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>{{7*7}}`;

/** The same for a URL. The API accepts no angle brackets and no double quotes in URLs (RFC 3986). */
const HOSTILE_PATH = `'onerror='window.attacked=1'javascript:alert(1)`;

useConsole();

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0)) await each();
});

/** Signs in. Resolves once a page is shown. `options` are those of `admin console-link`. */
async function openSession(...options: string[]) {
  const opened = await openConsole(await signInLink(...options));
  await opened.page.waitForSelector('h1.page-title');
  return opened;
}

const linksOf = (page: Page) =>
  page.$$eval('nav[aria-label="Pages"] a', (links) => links.map((link) => link.textContent));

/** Opens an address of the console and waits for what it shows. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${publicUrl}/console${path}`, { waitUntil: 'networkidle2' });
  await page.waitForFunction(
    `document.querySelector('h1.page-title, [role=alert]') && !document.querySelector('.loading')`,
  );
}

/** The names of the buttons of the page. In names of buttons for one object, … replaces the name of the object. */
async function controlsOf(page: Page): Promise<string[]> {
  const names = await page.$$eval('main button', (buttons) =>
    buttons.map((button) => button.getAttribute('aria-label') ?? button.textContent ?? ''),
  );
  return names.map((name) => name.replace(/^(Revoke|End) .*/, '$1 …'));
}

type Operation = { 'x-served-by'?: string; security?: Record<string, Permission[]>[] };
type Contract = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: { Permission: { enum: string[] } } };
};

const contract = async () => (await (await fetch(`${target.baseUrl}/openapi.json`)).json()) as Contract;

/** The requests that the server must refuse to a session with only this permission, with ids that do not exist. */
function refusedRequests({ paths }: Contract, held: Permission): { method: string; path: string }[] {
  return Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const needed = operation.security?.find((each) => 'consoleSession' in each)?.consoleSession;
      // Playback has optional security: it depends on the video.
      const isOptional = operation.security?.some((each) => Object.keys(each).length === 0);
      if (needed === undefined || isOptional || operation['x-served-by'] === 'engine') return [];
      const isRefused = needed.some((permission) => permission !== held) || template === '/console/system';
      if (!isRefused) return [];
      const path = template.replace('{language}', 'en').replace(/\{\w+\}/g, 'vid_01m7y5g5zqfqetgq1je8rn7s3t');
      return [{ method: method.toUpperCase(), path }];
    }),
  );
}

/** Sends requests as the page does. Resolves with those that get another response than 403 `insufficient_permissions`. */
function notRefused(page: Page, requests: { method: string; path: string }[]): Promise<unknown> {
  return page.evaluate(
    `(async (requests) => {
      const { csrfToken } = await (await fetch('/v1/console/session')).json();
      const headers = { 'X-Framelane-CSRF': csrfToken, 'Content-Type': 'application/json' };
      const others = [];
      for (const { method, path } of requests) {
        const response = await fetch('/v1' + path, { method, headers, ...(method !== 'GET' && { body: '{}' }) });
        const { code } = await response.json().catch(() => ({}));
        if (response.status !== 403 || code !== 'insufficient_permissions') {
          others.push([method, path, response.status, code]);
        }
      }
      return others;
    })(${JSON.stringify(requests)})`,
  );
}

testInBrowser('the tables of this test have every permission and every page', async () => {
  expect([...(await contract()).components.schemas.Permission.enum].sort()).toEqual([...PERMISSIONS].sort());
  const guide = await readFile(join(import.meta.dirname, '../../../docs/console.md'), 'utf8');
  const documented = [...guide.matchAll(/^\|[^|]+\| `(\/[\w/{}-]*)` \|/gm)].map(([, path]) => path);
  expect(documented.filter((path) => !path?.endsWith('/{id}')).sort()).toEqual(
    Object.values(PAGES)
      .map(({ path }) => path)
      .sort(),
  );
  const { page } = await openSession('--administrator');
  expect(await linksOf(page)).toEqual(Object.keys(PAGES));
});

testInBrowser('with a single permission, the server refuses all that the pages hide', async () => {
  const document = await contract();
  await unwrap(createClient(target).POST('/api-keys', { body: { name: 'To see and not to revoke' } }));
  for (const permission of PERMISSIONS) {
    const { page } = await openSession('--permissions', permission);
    expect([permission, await linksOf(page)]).toEqual([permission, LINKS[permission]]);
    for (const { path, needs, controls } of Object.values(PAGES)) {
      if (needs !== permission || controls === undefined) continue;
      await open(page, path);
      const shown = await controlsOf(page);
      expect([path, controls.names.filter((name) => shown.includes(name))]).toEqual([path, []]);
    }
    const requests = refusedRequests(document, permission);
    expect(requests.length).toBeGreaterThan(20);
    expect([permission, await notRefused(page, requests)]).toEqual([permission, []]);
    await page.close();
  }
});

testInBrowser('a hidden page reports the missing permission when it is opened by its address', async () => {
  const { page } = await openSession('--permissions', 'usage:read');
  for (const { path, needs } of Object.values(PAGES)) {
    // The first address opens a page that the session may see.
    if (needs === 'usage:read' || path === '/') continue;
    await open(page, path);
    await untilText(page, 'Insufficient Permissions');
  }
});

testInBrowser('with both permissions of a page its buttons are shown', async () => {
  for (const { path, needs, controls } of Object.values(PAGES)) {
    if (controls === undefined) continue;
    const { page } = await openSession('--permissions', `${needs},${controls.needs}`);
    await open(page, path);
    const shown = await controlsOf(page);
    expect([path, controls.names.filter((name) => !shown.includes(name))]).toEqual([path, []]);
    await page.close();
  }
});

testInBrowser('no text that a user can set is interpreted as HTML or as a script', async () => {
  const { id: workspace } = JSON.parse(await admin('workspace', 'create', '--json', '--name', HOSTILE));
  const { secret } = JSON.parse(
    await admin('key', 'create', '--json', '--workspace', workspace, '--name', 'Attacker'),
  );
  const api = createClient({ baseUrl: target.baseUrl, apiKey: secret, workspaceId: workspace });
  const { videoId } = await unwrap(
    api.POST('/videos/upload-ticket', {
      body: {
        filename: `${HOSTILE.replaceAll('/', '')}.mp4`,
        title: HOSTILE,
        tags: ['<img src=x>'],
        metadata: { note: HOSTILE },
      },
    }),
  );
  undo.push(() => api.DELETE('/videos/{id}', { params: { path: { id: videoId } } }));
  const captions = await fetch(
    `${target.baseUrl}/videos/${videoId}/captions/en?label=${encodeURIComponent(HOSTILE.slice(0, 44))}`,
    {
      method: 'PUT',
      headers: {
        Authorization: `Bearer ${secret}`,
        'X-Svc-Workspace': workspace,
        'Content-Type': 'text/vtt',
      },
      body: `WEBVTT\n\n00:00.000 --> 00:01.000\n${HOSTILE.replaceAll('>', '&gt;')}\n`,
    },
  );
  expect(captions.status).toBeLessThan(300);
  await api.chapters.set(videoId, [{ start: 0, title: HOSTILE }]);
  const address = `https://media.invalid/${HOSTILE_PATH}?q=${HOSTILE_PATH}`;
  const { id: importId } = await unwrap(
    api.POST('/videos/import', { body: { url: address, title: 'javascript:alert(1)' } }),
  );
  undo.push(() => api.DELETE('/videos/{id}', { params: { path: { id: importId } } }));
  await unwrap(api.POST('/api-keys', { body: { name: HOSTILE } }));
  const webhook = await unwrap(
    api.POST('/webhooks', {
      body: { url: `http://127.0.0.1:9/${HOSTILE_PATH}`, description: HOSTILE },
    }),
  );
  undo.push(() => api.DELETE('/webhooks/{id}', { params: { path: { id: webhook.id } } }));

  const opened = await openSession('--workspace', workspace, '--name', HOSTILE, '--administrator');
  const { page } = opened;
  await untilText(page, HOSTILE);
  const addresses = Object.values(PAGES).map(({ path, showsTexts }) => ({ path, showsTexts }));
  for (const { path, showsTexts } of [
    ...addresses,
    ...['', '?tab=captions', '?tab=embed', '?tab=code'].map((tab) => ({
      path: `/videos/${videoId}${tab}`,
      showsTexts: true,
    })),
    { path: `/videos/${importId}`, showsTexts: false },
    { path: `/webhooks/${webhook.id}`, showsTexts: true },
  ]) {
    await open(page, path);
    if (showsTexts) {
      await page.waitForFunction(
        `document.querySelector('main').innerText.includes(${JSON.stringify(HOSTILE)})`,
      );
    }
    expect([path, await injected(page)]).toEqual([path, []]);
  }
  expect(problemsOf(opened)).toEqual([]);
});

/** The elements that a hostile text would add to the page. */
function injected(page: Page): Promise<unknown> {
  return page.evaluate(`[
    ...('attacked' in window ? ['a script ran'] : []),
    ...[...document.querySelectorAll('img[src="x"], [onerror], script:not([src])')].map(({ outerHTML }) => outerHTML),
    ...[...document.querySelectorAll('a[href]')].map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
  ]`);
}

testInBrowser('the system page shows what works and what does not', async () => {
  const opened = await openSession('--administrator');
  const { page } = opened;
  const wide = page.viewport();
  await page.setViewport({ width: 375, height: 812 });
  await click(page, 'Menu');
  await click(page, 'System', 'link');
  await heading(page, 'System');
  await click(page, 'Menu');
  const current = `document.querySelector('[role="dialog"] [aria-current]')`;
  await page.waitForFunction(
    `${current}?.textContent === 'System' && ${current}.getBoundingClientRect().bottom <= innerHeight`,
  );
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role="dialog"]', { hidden: true });
  await page.setViewport(wide);
  await untilText(page, 'Uploads and transcodes');
  await untilText(page, 'There is no RabbitMQ.');
  const healthy = await page.$eval('main', (main) => main.textContent);
  expect(healthy).toMatch(/Healthy, \d+ ms/);
  expect(healthy).toMatch(/\d of \d slots busy/);
  expect(healthy).not.toContain('Unknown');
  expect(healthy).toContain('None yet');
  await inspect(opened, 'system');

  const real = (await page.evaluate(
    `fetch('/v1/console/system').then((response) => response.json())`,
  )) as Schemas['System'];
  let respond: (request: HTTPRequest) => boolean = () => false;
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (!respond(request)) void request.continue();
  });
  const respondWith = (path: string, status: number, body: object) => {
    const earlier = respond;
    respond = (request) => {
      if (new URL(request.url()).pathname !== path) return earlier(request);
      void request.respond({ status, contentType: 'application/json', body: JSON.stringify(body) });
      return true;
    };
  };

  const [engine] = real.engines ?? [];
  respondWith('/v1/console/system', 200, {
    ...real,
    health: {
      database: { kind: 'postgresql', status: 'slow', latencyMs: 1420 },
      queue: { kind: 'rabbitmq', status: 'unavailable', latencyMs: null },
      storage: { kind: 's3', status: 'healthy', latencyMs: 12 },
    },
    versions: { ...real.versions, schema: null },
    engines: [
      {
        ...engine,
        id: 'eng_1',
        host: 'uploader-7c9d8b6f5-x2k4q',
        roles: ['upload'],
        ffmpegVersion: null,
        hardware: null,
        uploads: 3,
      },
      { ...engine, id: 'eng_2', host: 'transcoder-6b8c9-lost', roles: ['transcode'], status: 'lost' },
      { ...engine, id: 'eng_3', host: 'transcoder-6b8c9-stopping', roles: ['transcode'], status: 'stopping' },
    ],
    videos: { waiting: { count: 12, oldestSeconds: 754 }, running: { count: 2, oldestSeconds: 40 } },
    imports: null,
    deadLetters: null,
    backups: {
      last: {
        id: '20261121T020000123Z-0a1b2c3d4e5f6071',
        snapshotAt: '2026-11-21T02:00:00.140Z',
        ageSeconds: 5 * 86_400,
        completedAt: '2026-11-21T02:11:42.318Z',
        objects: 184_223,
        bytes: 912_680_550_400,
        missing: 0,
      },
    } satisfies Schemas['System']['backups'],
  });
  await untilText(page, 'Silent since');
  const degraded = await page.$eval('main', (main) => main.textContent);
  for (const words of [
    'Slow, 1420 ms',
    'Unavailable',
    'Unknown',
    'Lost',
    'Stopping',
    '12, the oldest for 12 min',
    'The data of 5 days ago',
    'The last backup is older than two days.',
  ]) {
    expect(degraded).toContain(words);
  }
  expect(degraded).toContain('No engine transcodes, so videos wait.');
  const guide = await page.$eval('main a[href$="/docs/backup"]', (link) => link.getAttribute('href'));
  expect((await fetch(guide ?? '')).status).toBe(200);
  await inspect(opened, 'system-degraded');

  respondWith('/v1/console/system', 503, {
    type: 'https://video.example.com/docs/errors/unavailable',
    title: 'Unavailable',
    status: 503,
    code: 'unavailable',
    detail: 'A part of the service is unavailable. Retry later.',
    instance: '/v1/console/system',
    requestId: 'req_1',
  });
  respondWith('/readyz', 503, { status: 'unavailable', missing: ['database'] });
  await untilText(page, 'These systems are unavailable: database.');
  await untilText(page, 'The rest of this page is from');
  await inspect(opened, 'system-unavailable', /503/);
  respond = () => false;
  await click(page, 'Try again');
  await page.waitForFunction(`!document.querySelector('[role=alert]')`);
});
