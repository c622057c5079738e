import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { upload } from '@framelane/client/node';
import type { OpenedPage } from '@framelane/test-kit/browser';
import { installPackage } from '@framelane/test-kit/installed-package';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { makeMp4 } from '../src/clips.ts';
import {
  click,
  client,
  codeOf,
  fill,
  heading,
  openConsole,
  openTab,
  problemsOf,
  publicUrl,
  signIn,
  target,
  testInBrowser,
  textOf,
  untilText,
  useConsole,
} from '../src/console.ts';
import { runCurlLine } from '../src/curl-line.ts';
import { bundle, withPage } from '../src/pasted-code.ts';

/** The code and the URLs on the page of a video are used as they are: only an API key and a token are filled in. */

const ROOT = join(import.meta.dirname, '../../..');
/** With what ends attributes in HTML and JSX. */
const TITLE = `Tom & "Jerry's" {1} <b>`;

useConsole();

let directory: string;
let video: ReadyVideo;
let signed: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-code-'));
  await installPackage('elements', directory);
  for (const name of ['react', 'react-dom'])
    await symlink(join(ROOT, 'packages/elements/node_modules', name), join(directory, 'node_modules', name));
  await symlink(
    join(ROOT, 'packages/acceptance/node_modules/hls.js'),
    join(directory, 'node_modules/hls.js'),
  );
  const clip = await makeMp4(directory, {
    name: 'code',
    width: 180,
    height: 320,
    rate: '25',
    seconds: 4,
    audio: null,
  });
  const publish = async (fields: object) => {
    const ticket = await client.requestTicket({ filename: 'code.mp4', title: TITLE, ...fields });
    await upload(clip, ticket);
    return client.api.videos.waitUntilReady(ticket.videoId);
  };
  [video, signed] = await Promise.all([publish({}), publish({ playbackPolicy: 'signed' })]);
});
afterAll(() => rm(directory, { recursive: true }));

async function openVideo({ id }: ReadyVideo, tab: string): Promise<OpenedPage> {
  const opened = await signIn();
  await opened.page.goto(`${publicUrl}/console/videos/${id}?tab=${tab}`);
  await heading(opened.page, TITLE);
  return opened;
}

/** The code in each language. */
async function codeIn(page: Page): Promise<Record<'HTML' | 'React' | 'hls.js' | 'curl' | 'Node', string>> {
  const codes: Record<string, string> = {};
  for (const language of ['HTML', 'React', 'hls.js', 'curl', 'Node']) {
    await page.locator(`.languages ::-p-text(${language})`).click();
    codes[language] = await codeOf(page, `Code in ${language}`);
    const guide = new URL(await page.$eval('.code-section a', ({ href }) => href));
    const response = await fetch(guide);
    expect([guide.href, response.status]).toEqual([guide.href, 200]);
    expect(await response.text()).toContain(`id="${guide.hash.slice(1)}`);
  }
  return codes as Awaited<ReturnType<typeof codeIn>>;
}

/** Waits until a player page in a frame of the page can play. */
async function untilFramePlays(page: Page, embed: string): Promise<void> {
  const frame = await page.waitForFrame((each) => each.url().startsWith(embed));
  await frame.waitForFunction(`document.querySelector('framelane-video')?.readyState >= 2`);
}

/** Renders the component `Player` of pasted code. */
const rendered = (code: string, props: object) => `${code}
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
createRoot(document.body.appendChild(document.createElement('div'))).render(createElement(Player, ${JSON.stringify(props)}));`;

async function runNode(code: string): Promise<string> {
  await writeFile(join(directory, 'pasted.mjs'), code);
  const { stdout } = await runProgram(process.execPath, ['pasted.mjs'], {
    cwd: directory,
    env: { FRAMELANE_API_KEY: target.apiKey },
  });
  return stdout;
}

const runCurl = (code: string) => runCurlLine(code, { directory, env: { FRAMELANE_API_KEY: target.apiKey } });

testInBrowser('the code of a public video runs as it is pasted, and the language is remembered', async () => {
  const opened = await openVideo(video, 'code');
  const { page } = opened;
  const codes = await codeIn(page);
  await page.reload();
  expect(await codeOf(page, 'Code in Node')).toBe(codes.Node);
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`);
  await click(page, 'Copy: Code in Node');
  await untilText(page, 'Copied');
  expect(await page.evaluate('window.copied')).toBe(codes.Node);
  expect(problemsOf(opened)).toEqual([]);

  expect(await runNode(codes.Node)).toBe(`${TITLE} ready ${video.hls}\n`);
  const response = await runCurl(codes.curl);
  expect([response.status, await response.json()]).toMatchObject([200, { id: video.id, title: TITLE }]);
  await withPage({ html: codes.HTML }, async (url) => {
    const { page: site, problems } = await openConsole(url);
    await untilFramePlays(site, video.embed);
    expect(await site.$eval('iframe', (frame) => frame.title)).toBe(TITLE);
    expect(problems).toEqual([]);
  });
  await withPage({ script: await bundle(rendered(codes.React, {}), directory) }, async (url) => {
    const { page: site, problems } = await openConsole(url);
    await untilFramePlays(site, video.embed);
    expect(await site.$eval('framelane-player', (player) => player.title)).toBe(TITLE);
    expect(problems).toEqual([]);
  });
  await withPage({ script: await bundle(codes['hls.js'], directory) }, async (url) => {
    const { page: site, problems } = await openConsole(url);
    await site.waitForFunction(`document.querySelector('video')?.readyState >= 2`);
    expect(problems).toEqual([]);
  });
});

testInBrowser('the code of a signed video creates a token, and plays with it', async () => {
  const { page } = await openVideo(signed, 'code');
  const codes = await codeIn(page);
  const created = await runCurl(codes.curl);
  expect(created.status).toBe(201);
  const { token } = (await created.json()) as { token: string };
  const [fromNode = ''] = (await runNode(codes.Node)).split(' ');
  await withPage({ html: codes.HTML.replace('PLAYBACK_TOKEN', fromNode) }, async (url) => {
    const { page: site } = await openConsole(url);
    await untilFramePlays(site, signed.embed);
  });
  await withPage({ script: await bundle(rendered(codes.React, { token }), directory) }, async (url) => {
    const { page: site } = await openConsole(url);
    await untilFramePlays(site, signed.embed);
  });
  const script = await bundle(codes['hls.js'].replace('PLAYBACK_TOKEN', token), directory);
  await withPage({ script }, async (url) => {
    const { page: site } = await openConsole(url);
    await site.waitForFunction(`document.querySelector('video')?.readyState >= 2`);
  });
});

testInBrowser('the embedded player is shown with its options, and the HTML has them', async () => {
  const opened = await openVideo(video, 'embed');
  const { page } = opened;
  const preview = async () => {
    const frame = await (await page.waitForSelector('iframe.embed-preview'))?.contentFrame();
    await frame?.waitForFunction(`document.querySelector('framelane-video')?.readyState >= 2`);
    return frame;
  };
  const untilPreviewHas = (query: string) =>
    page.waitForSelector(`iframe.embed-preview[src="${video.embed}${query}"]`);
  await untilPreviewHas('');
  await click(page, 'Muted', 'checkbox');
  await click(page, 'Loop', 'checkbox');
  await fill(page, 'Start at', 'soon');
  await untilText(page, 'Write a time such as 1:02.5.');
  await fill(page, 'Start at', '0:02');
  // As the dialog of the browser for colours.
  await page.evaluate(`{
    const input = document.querySelector('input[type="color"]');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '#ff6600');
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }`);
  const query = '?muted=1&loop=1&start=2&color=ff6600';
  await untilPreviewHas(query);
  const media = await (
    await preview()
  )?.evaluate(`(({ muted, loop, currentTime }) => ({ muted, loop, currentTime }))(
    document.querySelector('framelane-video'))`);
  expect(media).toMatchObject({ muted: true, loop: true, currentTime: 2 });
  expect(await codeOf(page, 'HTML for a site')).toContain(
    `<iframe src="${video.embed}${query.replaceAll('&', '&amp;')}"`,
  );
  await click(page, 'Default colour');
  await untilPreviewHas('?muted=1&loop=1&start=2');

  // A player that nobody sees makes no sound.
  await openTab(page, 'Share');
  await page.waitForSelector('iframe.embed-preview', { hidden: true });
  expect(await page.$('iframe.embed-preview')).toBeNull();
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('a URL without room loses its middle, and is copied whole', async () => {
  const opened = await openVideo(video, 'share');
  const { page } = opened;
  await page.setViewport({ width: 390, height: 844 });
  expect(await textOf(page, 'Playlist (HLS)')).toBe(video.hls);
  const line = `[...document.querySelectorAll('.copy-line')].find(({ title }) => title === ${JSON.stringify(video.hls)})`;
  const parts = await page.evaluate(`[...${line}.children].map((part) => {
    const { left, right } = part.getBoundingClientRect();
    const box = part.parentElement.getBoundingClientRect();
    return { isCut: part.scrollWidth > part.clientWidth && part.clientWidth > 0, isInside: left >= box.left && right <= box.right };
  })`);
  expect(parts).toEqual([
    { isCut: true, isInside: true },
    { isCut: false, isInside: true },
  ]);
  // Without permission for the clipboard, the text is selected.
  await page.evaluate(`navigator.clipboard.writeText = async () => { throw new Error('refused'); }`);
  await click(page, 'Copy: Playlist (HLS)');
  await untilText(page, 'Selected: copy it with the keyboard');
  expect(await page.evaluate('getSelection().toString()')).toBe(video.hls);
  expect(problemsOf(opened)).toEqual([]);
});
