import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '@framelane/client';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import {
  click,
  client,
  fill,
  follow,
  heading,
  inspect,
  problemsOf,
  signIn,
  testInBrowser,
  textOf,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';

/** A text that would run a script if a page did not escape it. */
const HOSTILE = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>`;

useConsole();

let endpoint: Server;
let url: string;
/** The status of the endpoint's responses. Their body is hostile. */
let status = 500;
const received: { headers: Headers; body: string }[] = [];

beforeAll(async () => {
  endpoint = createServer(async (request, response) => {
    const headers = new Headers(request.headers as Record<string, string>);
    received.push({ headers, body: await text(request) });
    response.writeHead(status, { 'Content-Type': 'text/html' }).end(HOSTILE);
  });
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hooks?from=framelane`;
});
afterAll(async () => {
  endpoint.closeAllConnections();
  await new Promise((resolve) => endpoint.close(resolve));
});

/** Clicks the first button whose name begins with this. */
const clickFirst = (page: Page, name: string) => page.locator(`button[aria-label^="${name}"]`).click();

testInBrowser('a webhook is created, fails, and its event is delivered again', async () => {
  const opened = await signIn();
  const { page } = opened;
  await follow(page, 'Webhooks');
  await heading(page, 'Webhooks');
  await untilText(page, 'This workspace has no webhooks.');
  await inspect(opened, 'no-webhooks');

  await click(page, 'Create webhook');
  await fill(page, 'URL', 'not a URL');
  await click(page, 'Create');
  await untilText(page, 'Must be an absolute URL');
  await page.waitForSelector('.request-id');
  await fill(page, 'URL', url);
  await fill(page, 'Description', HOSTILE);
  await inspect(opened, 'create-webhook', /(status of|responded with) 400/);
  await click(page, 'Create');
  await untilText(page, 'Copy the secret now.');
  const secret = await textOf(page, 'Signing secret');
  await click(page, 'Done');
  await page.reload();
  await untilText(page, HOSTILE);
  expect(await page.content()).not.toContain(secret);
  await page.locator('.rows a').click();
  await heading(page, url);

  await click(page, 'Send test event');
  await untilText(page, 'Responded with 500.');
  expect(received).toHaveLength(1);
  expect(verifyWebhook(received[0]?.body ?? '', received[0]?.headers ?? new Headers(), secret).type).toBe(
    'webhook.test',
  );
  await clickFirst(page, 'Details of webhook.test');
  expect(JSON.parse(await textOf(page, 'Request body'))).toMatchObject({ type: 'webhook.test' });
  expect(await textOf(page, 'Request headers of attempt 1')).toContain(
    `webhook-id: ${received[0]?.headers.get('webhook-id')}`,
  );
  expect(await textOf(page, 'Response to attempt 1')).toBe(HOSTILE);
  await page.select('select[aria-label="Status of the deliveries"]', 'succeeded');
  await untilText(page, 'No delivery of the last 30 days has the status succeeded.');
  await page.select('select[aria-label="Status of the deliveries"]', '');
  await untilText(page, 'Responded with 500.');
  await clickFirst(page, 'Details of webhook.test');
  await inspect(opened, 'webhook', /(status of|responded with) 400/);
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);

  status = 204;
  await clickFirst(page, 'Redeliver webhook.test');
  await untilText(page, 'Attempt 2');
  await untilText(page, 'Responded with 204.');
  expect(received.map(({ headers }) => headers.get('webhook-id'))).toEqual([
    received[0]?.headers.get('webhook-id'),
    received[0]?.headers.get('webhook-id'),
  ]);

  await click(page, 'Rotate secret');
  await click(page, 'Rotate');
  await untilText(page, 'Copy the secret now.');
  const rotated = await textOf(page, 'New signing secret');
  expect(rotated).not.toBe(secret);
  await click(page, 'Done');
  await untilGone(page, 'Copy the secret now.');

  await click(page, 'Disable');
  await untilText(page, 'This webhook is disabled');
  expect(await page.$('button[aria-label^="Redeliver"]')).toBeNull();
  await click(page, 'Enable');
  await untilGone(page, 'This webhook is disabled');
  await click(page, 'Edit');
  await fill(page, 'Description', 'Catalogue');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await client.api.webhooks.update(id, { events: ['video.deleted'] });
  await click(page, 'Save');
  await untilGone(page, 'Edit webhook');
  await untilText(page, 'Catalogue');
  expect(await client.api.webhooks.get(id)).toMatchObject({
    description: 'Catalogue',
    events: ['video.deleted'],
  });
  await click(page, 'Delete webhook');
  await click(page, 'Delete');
  await untilText(page, 'This workspace has no webhooks.');
  expect(problemsOf(opened, /(status of|responded with) 400/)).toEqual([]);
});

testInBrowser('somebody who may only read webhooks cannot change them', async () => {
  await client.api.webhooks.create({ url });
  const { page } = await signIn('--permissions', 'videos:read,webhooks:read');
  await follow(page, 'Webhooks');
  await heading(page, 'Webhooks');
  await page.locator('.rows a').click();
  await heading(page, url);
  await untilText(page, 'No event was sent in the last 30 days.');
  const names = await page.$$eval('main button', (buttons) => buttons.map(({ textContent }) => textContent));
  expect(names).toEqual([]);
});
