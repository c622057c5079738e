import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import {
  click,
  client,
  fill,
  follow,
  inspect,
  problemsOf,
  publicUrl,
  signIn,
  testInBrowser,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';

useConsole();

const TICKETS = 27;
const IMPORTS = 3;
const ALL = TICKETS + IMPORTS;

/** Has none of the files that it is asked for. */
let server: Server;
let requests = 0;
let host: string;
let titles: string[];

beforeAll(async () => {
  server = createServer((_, response) => {
    requests += 1;
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  titles = Array.from({ length: TICKETS }, (_, at) => `Lecture ${at + 1} about lists`);
  for (const title of titles) await client.requestTicket({ filename: 'clip.mp4', title, tags: ['course'] });
  await Promise.all(
    Array.from({ length: IMPORTS }, async (_, at) => {
      const video = { url: `http://${host}/master-${at}.mp4`, title: `Master ${at}`, tags: ['course'] };
      await client.call('POST', '/videos/import', video);
    }),
  );
  await until(async () => (await videos('failed')).length === IMPORTS, { what: 'the imports fail' });
});
afterAll(async () => {
  await new Promise((closed) => server.close(closed));
});

async function videos(status: string): Promise<{ id: string; title: string; tags: string[] }[]> {
  const response = await client.call('GET', `/videos?status=${status}&limit=100`);
  return ((await response.json()) as { data: { id: string; title: string; tags: string[] }[] }).data;
}

const open = (page: Page, query: string) => page.goto(`${publicUrl}/console/videos?${query}`);

const untilRows = (page: Page, count: number) =>
  page.waitForFunction(`document.querySelectorAll('.rows > li').length === ${count}`);

testInBrowser('a list has its total, and its words are found in any order', async () => {
  const opened = await signIn();
  const { page } = opened;
  await untilText(page, `1–25 of ${ALL}`);
  await click(page, 'Next');
  await untilText(page, `26–${ALL} of ${ALL}`);
  await open(page, 'q=lists+lecture+27');
  await untilText(page, '1 video');
  await untilText(page, 'Lecture 27 about lists');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('all videos of a filter are selected and changed, not only those of the page', async () => {
  const opened = await signIn();
  const { page } = opened;
  await open(page, 'q=lecture');
  await untilText(page, `1–25 of ${TICKETS}`);
  await click(page, 'Select all', 'checkbox');
  await untilText(page, '25 selected');
  await click(page, `Select all ${TICKETS}`);
  await untilText(page, `${TICKETS} selected`);
  await inspect(opened, 'selected-all');
  await click(page, 'Add tags');
  await fill(page, `Tags of ${TICKETS} videos`, 'term');
  await click(page, 'Add');
  await untilText(page, `${TICKETS} of ${TICKETS} changed`);
  const tagged = (await videos('uploading')).filter(({ tags }) => tags.includes('term'));
  expect(tagged.map(({ title }) => title).toSorted()).toEqual(titles.toSorted());
  // Another page of the list begins without a selection.
  await click(page, 'Select all', 'checkbox');
  await click(page, 'Next');
  await untilRows(page, TICKETS - 25);
  await untilText(page, 'Select all');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('imports that failed alike are one line, and are retried together', async () => {
  const opened = await signIn();
  const { page } = opened;
  const group = `${IMPORTS} imports from ${host}`;
  await open(page, 'status=failed');
  await untilText(page, group);
  await untilText(page, 'The server has no file at this URL.');
  await untilRows(page, 1);
  await inspect(opened, 'group');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await untilRows(page, 1 + IMPORTS);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await untilText(page, '1 selected');
  await click(page, `Select ${group}`, 'checkbox');
  await untilText(page, `${IMPORTS} selected`);
  await click(page, `Select ${group}`, 'checkbox');
  await untilGone(page, `${IMPORTS} selected`);
  await click(page, group);
  await untilRows(page, 1);

  const before = (await videos('failed')).map(({ id }) => id);
  const sent = requests;
  await click(page, 'Retry all failed');
  await untilText(page, `${IMPORTS} videos: Framelane imports the file again`);
  await inspect(opened, 'retry-all');
  await click(page, 'Retry');
  await untilText(page, `${IMPORTS} of ${IMPORTS} begun again`);
  await until(async () => (await videos('failed')).length === IMPORTS, { what: 'the new imports fail, too' });
  const after = await videos('failed');
  for (const { id } of after) client.deleteAtEnd(id);
  expect(after.filter(({ id }) => before.includes(id))).toEqual([]);
  expect(after.map(({ title }) => title).toSorted()).toEqual(['Master 0', 'Master 1', 'Master 2']);
  expect(after.every(({ tags }) => tags.includes('course'))).toBe(true);
  expect(requests - sent).toBe(IMPORTS);
  await untilText(page, group);
  await click(page, group);
  await follow(page, 'Master 0');
  expect(problemsOf(opened)).toEqual([]);
});
