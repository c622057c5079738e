import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { upload } from '@framelane/client/node';
import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { freePorts } from '@framelane/test-kit/free-ports';
import { installPackage } from '@framelane/test-kit/installed-package';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { saveFiles } from '../src/guide-files.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { StartedProgram } from '../src/started-program.ts';
import { readTarget } from '../src/target.ts';

/**
 * Runs the files that the guides say to save, with the packed client. Frameworks are not started: their handlers are functions. `elements.test.ts` runs
 * the components of Next.js.
 */

const GUIDES = join(import.meta.dirname, '../../../docs');
const SECRET = `whsec_${Buffer.alloc(24, 'guide').toString('base64')}`;

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const settings = {
  FRAMELANE_BASE_URL: target.baseUrl,
  FRAMELANE_API_KEY: target.apiKey,
  FRAMELANE_WORKSPACE_ID: target.workspaceId,
};

let directory: string;
let clip: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-guide-programs-'));
  await installPackage('client', directory);
  clip = await makeMp4(directory, {
    name: 'sample',
    width: 320,
    height: 180,
    rate: '25',
    seconds: 1,
    audio: null,
  });
  for (const guide of ['nextjs', 'cms', 'html-page'])
    await saveFiles(join(GUIDES, `${guide}.md`), join(directory, guide));
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

const load = (path: string) => import(pathToFileURL(join(directory, path)).href);

/** A request as Framelane sends it: an event, signed as Standard Webhooks says. */
async function delivery(event: object): Promise<Request> {
  const { Webhook } = createRequire(join(directory, 'package.json'))('standardwebhooks');
  const now = new Date();
  const body = JSON.stringify(event);
  return new Request('https://www.example.com/api/framelane', {
    method: 'POST',
    body,
    headers: {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('evt_1', now, body),
    },
  });
}

const unsigned = () => new Request('https://www.example.com/', { method: 'POST', body: '{}' });

test('Next.js: the handler of tickets creates a ticket for an upload, and passes problems on', async () => {
  Object.assign(process.env, settings);
  const { POST } = await load('nextjs/app/api/tickets/route.js');
  const post = (body: object): Promise<Response> =>
    POST(new Request('https://www.example.com/api/tickets', { method: 'POST', body: JSON.stringify(body) }));
  const created = await post({ filename: 'sample.mp4' });
  const ticket = (await created.json()) as Parameters<typeof upload>[1] & { videoId: string };
  client.deleteAtEnd(ticket.videoId);
  expect(created.status).toBe(201);
  await upload(clip, ticket);
  const refused = await post({ filename: '' });
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'validation_failed' }]);
});

test('Next.js: the webhook handler records signed events once, in the order of their times', async () => {
  process.env.FRAMELANE_WEBHOOK_SECRET = SECRET;
  const { POST } = await load('nextjs/app/api/framelane/route.js');
  const { videos } = await load('nextjs/lib/videos.js');
  expect((await POST(unsigned())).status).toBe(401);
  const send = async (id: string, type: string, timestamp: string, data: object) =>
    (await POST(await delivery({ id, type, timestamp, data: { id: 'vid_1', ...data } }))).status;
  expect(await send('evt_2', 'video.ready', '2026-11-29T10:00:02.000Z', { embed: 'https://e/' })).toBe(204);
  expect(await send('evt_1', 'video.failed', '2026-11-29T10:00:01.000Z', { error: {} })).toBe(204);
  expect(await send('evt_3', 'webhook.test', '2026-11-29T10:00:03.000Z', {})).toBe(204);
  expect(videos.get('vid_1')).toMatchObject({ status: 'ready', embed: 'https://e/' });
  await send('evt_4', 'video.deleted', '2026-11-29T10:00:04.000Z', {});
  expect(videos.get('vid_1')).toMatchObject({ status: 'deleted' });
});

test('CMS: the webhook handler updates the entry of the video, and no other', async () => {
  const { handleWebhook } = await load('cms/framelane-webhook.js');
  const stored = new Map<string, object>([
    ['entry-1', { videoId: 'vid_1' }],
    ['entry-2', { videoId: 'vid_other' }],
  ]);
  const entries = {
    find: async (id: string) => stored.get(id),
    update: async (id: string, fields: object) => stored.set(id, { ...stored.get(id), ...fields }),
  };
  const handle = (req: Request): Promise<Response> => handleWebhook(req, { secret: SECRET, entries });
  expect((await handle(unsigned())).status).toBe(401);
  const ready = { id: 'vid_1', embed: 'https://e/', thumbnail: 'https://t/' };
  for (const passthrough of ['entry-1', 'entry-2', null]) {
    const event = { id: 'evt_1', type: 'video.ready', data: { ...ready, passthrough } };
    expect((await handle(await delivery(event))).status).toBe(204);
  }
  expect([...stored.values()]).toEqual([
    { videoId: 'vid_1', videoStatus: 'ready', videoEmbed: 'https://e/', videoPoster: 'https://t/' },
    { videoId: 'vid_other' },
  ]);
  expect((await handle(await delivery({ id: 'evt_2', type: 'webhook.test', data: {} }))).status).toBe(204);
});

testInBrowser('plain HTML: the page uploads a video and shows its player', async () => {
  const [port] = await freePorts(1);
  const server = new StartedProgram(join(directory, 'html-page'), 'server.mjs', {
    ...settings,
    PORT: String(port),
  });
  const browser = await startBrowser(browserPath);
  try {
    await server.waitForOutput(/Open http/);
    const { page, problems } = await openPage(browser, `http://localhost:${port}/`, {
      width: 800,
      height: 600,
    });
    const input = await page.waitForSelector('input[type=file]');
    await (input as Awaited<ReturnType<typeof page.$<'input'>>>)?.uploadFile(clip);
    const frame = await page.waitForSelector('iframe');
    const embed = String(await frame?.evaluate((element) => element.src));
    client.deleteAtEnd(/vid_\w+/.exec(embed)?.[0] ?? '');
    expect(embed).toMatch(new RegExp(`^${target.baseUrl}/embed/`));
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
    await server.stop();
  }
});
