import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { type OpenedPage, openPage, startBrowser } from '@framelane/test-kit/browser';
import { installPackage } from '@framelane/test-kit/installed-package';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { makeMp4, pad } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { saveFiles } from '../src/guide-files.ts';
import { browserPath, describeInBrowser } from '../src/in-browser.ts';
import { ReactSite } from '../src/react-site.ts';
import { seriousFindings } from '../src/serious-findings.ts';
import { StartedProgram } from '../src/started-program.ts';
import { readTarget } from '../src/target.ts';

/** The packed elements, in the page of their README and in the pages of the guide to Next.js. */

const ROOT = join(import.meta.dirname, '../../..');
const WINDOW = { width: 1000, height: 800 };
const UPLOADER = `document.querySelector('framelane-uploader')`;
const PLAYER = `document.querySelector('framelane-player')`;
/** The texts of the files in the list. */
const ROWS = `[...${UPLOADER}.shadowRoot.querySelectorAll('li')].map((row) =>
  ['name', 'status', 'error'].map((part) => row.querySelector('[part="' + part + '"]').textContent).filter(Boolean).join(' | '))`;

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const settings = {
  FRAMELANE_BASE_URL: target.baseUrl,
  FRAMELANE_API_KEY: target.apiKey,
  FRAMELANE_WORKSPACE_ID: target.workspaceId,
};

describeInBrowser('the elements', () => {
  let directory: string;
  let clip: string;
  let largeClip: string;
  let video: ReadyVideo;
  let server: StartedProgram;
  let site: ReactSite;
  let browser: Browser;
  let opened: OpenedPage;
  let page: Page;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'framelane-elements-'));
    await installPackage('elements', directory);
    await saveFiles(join(ROOT, 'packages/elements/README.md'), join(directory, 'page'));
    await saveFiles(join(ROOT, 'docs/nextjs.md'), join(directory, 'nextjs'));
    const plan = { width: 320, height: 180, rate: '25', audio: null };
    clip = await makeMp4(directory, { ...plan, name: 'clip', seconds: 4 });
    largeClip = await pad(await makeMp4(directory, { ...plan, name: 'large', seconds: 1 }), 80 * 1024 ** 2);
    await writeFile(join(directory, 'notes.txt'), 'not a video');
    Object.assign(process.env, settings);
    const ticket = await client.requestTicket({ filename: 'signed.mp4', playbackPolicy: 'signed' });
    await upload(clip, ticket);
    video = await client.api.videos.waitUntilReady(ticket.videoId);
    server = new StartedProgram(join(directory, 'page'), 'server.mjs', { ...settings, PORT: '0' });
    site = await ReactSite.start(directory);
    browser = await startBrowser(browserPath);
  });
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await site.stop();
    await server.stop();
    await client.deleteAll();
    await rm(directory, { recursive: true });
  });

  /** Opens a page. Its `uploadEvents` are the events of uploaders, as texts, and its videos are deleted at the end. */
  async function open(url: string): Promise<void> {
    opened = await openPage(browser, url, WINDOW);
    page = opened.page;
    await page.evaluate(`{
      window.uploadEvents = [];
      for (const name of ['upload-progress', 'upload-complete', 'upload-error', 'upload-cancel'])
        document.addEventListener(name, ({ detail }) => uploadEvents.push({ ...detail, name, file: detail.file.name, ticket: undefined }));
    }`);
  }

  async function openReadmePage(): Promise<void> {
    const [, url = ''] = await server.waitForOutput(/Open (\S+)/);
    await open(url);
  }

  async function choose(...paths: string[]): Promise<void> {
    const input = (await page.waitForSelector('framelane-uploader >>> input')) as Awaited<
      ReturnType<typeof page.$<'input'>>
    >;
    await input?.uploadFile(...paths);
  }

  type UploadEvent = { name: string; file: string; videoId?: string; code?: string; sent?: number };

  async function events(name: string): Promise<UploadEvent[]> {
    const all = (await page.evaluate('uploadEvents')) as UploadEvent[];
    return all.filter((event) => event.name === name);
  }

  /** Waits until this many files have arrived, and resolves with their videos. */
  async function arrived(count: number): Promise<string[]> {
    await page.waitForFunction(
      `uploadEvents.filter(({ name }) => name === 'upload-complete').length === ${count}`,
    );
    const ids = (await events('upload-complete')).map(({ videoId = '' }) => videoId);
    for (const id of ids) client.deleteAtEnd(id);
    return ids;
  }

  test('the page of the README uploads several files and plays their videos', async () => {
    await openReadmePage();
    await page.evaluate(`${UPLOADER}.lang = 'en'`);
    await choose(clip, largeClip, join(directory, 'notes.txt'));
    const ids = await arrived(2);
    expect(new Set(ids).size).toBe(2);
    expect(await events('upload-error')).toMatchObject([{ file: 'notes.txt', code: 'file_type' }]);
    expect(await page.evaluate(ROWS)).toEqual([
      'notes.txt | Files of this type are not accepted. Choose a video.',
      expect.stringMatching(/^clip\.mp4 \| .* · uploaded$/),
      'large-padded.mp4 | 84 MB · uploaded',
    ]);
    for (const { sent = -1 } of await events('upload-progress')) expect(sent).toBeGreaterThanOrEqual(0);
    expect(await page.$$eval('framelane-player', (players) => players.length)).toBe(2);

    // Methods may be called before the video can be played.
    await page.evaluate(`{
      window.seen = [];
      for (const name of ['ready', 'play', 'pause', 'timeupdate', 'ended'])
        ${PLAYER}.addEventListener(name, ({ detail }) => seen.push({ name, detail }));
      ${PLAYER}.mute();
      ${PLAYER}.play();
      // Not from the frame.
      postMessage('{"context":"player.js","event":"ended"}', '*');
    }`);
    await page.waitForFunction(
      `seen.some(({ name, detail }) => name === 'timeupdate' && detail.seconds > 0.2)`,
    );
    expect(await page.evaluate(`${PLAYER}.getMuted()`)).toBe(true);
    expect(await page.evaluate(`${PLAYER}.getDuration()`)).toBeCloseTo(4, 0);
    await page.evaluate(`${PLAYER}.pause()`);
    await page.waitForFunction(`seen.at(-1).name === 'pause' || seen.some(({ name }) => name === 'pause')`);
    await page.evaluate(`${PLAYER}.setCurrentTime(3)`);
    await page.waitForFunction(`${PLAYER}.getCurrentTime().then((seconds) => seconds === 3)`);
    expect(await page.evaluate(`${PLAYER}.getPaused()`)).toBe(true);
    expect(await page.evaluate(`seen.some(({ name }) => name === 'ended')`)).toBe(false);
    // Before axe, whose messages to frames of other origins the browser reports.
    expect(opened.problems).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('an upload is paused, and continues after a reload with the same ticket', async () => {
    await openReadmePage();
    const pauseEarly = `document.addEventListener('upload-progress', ({ detail }) => {
      if (detail.sent > 16 * 1024 ** 2) ${UPLOADER}.shadowRoot.querySelector('[part~="toggle"]').click();
    })`;
    await page.evaluate(pauseEarly);
    await choose(largeClip);
    await page.waitForFunction(`${ROWS}[0]?.includes('Paused at')`);
    const [{ videoId = '' } = {}] = await events('upload-progress');
    expect(videoId).toMatch(/^vid_/);
    expect(await events('upload-complete')).toEqual([]);
    await page.close();

    await openReadmePage();
    await choose(largeClip);
    expect(await arrived(1)).toEqual([videoId]);
    const [{ sent = 0 } = {}] = await events('upload-progress');
    expect(sent).toBeGreaterThan(0);
    expect(opened.requested.filter((url) => url.endsWith('/tickets'))).toEqual([]);
  });

  test('a refusal is said in words, and a file can be cancelled or retried with the keyboard', async () => {
    await openReadmePage();
    const add = (name: string) =>
      page.evaluate(`${UPLOADER}.upload([new File(['x'], ${JSON.stringify(name)}, { type: 'video/mp4' })])`);
    const rows = (count: number) =>
      page.waitForFunction(`${ROWS}.filter((row) => row.includes(' | ')).length === ${count}`);
    await page.evaluate(`${UPLOADER}.setAttribute('endpoint', '/missing')`);
    await add('a.mp4');
    await page.waitForFunction(`uploadEvents.some(({ name }) => name === 'upload-error')`);
    await page.evaluate(`${UPLOADER}.setAttribute('endpoint', '/tickets')`);
    // The problem of Framelane goes through the server of the page.
    await add(`${'x'.repeat(2000)}.mp4`);
    await page.waitForFunction(`uploadEvents.filter(({ name }) => name === 'upload-error').length === 2`);
    await rows(2);
    const [missing, refused] = (await page.evaluate(ROWS)) as string[];
    expect(missing).toBe('a.mp4 | Uploads are not set up on this page. Tell the owner of the page.');
    expect(refused).toMatch(/filename/);
    expect((await events('upload-error')).map(({ code }) => code)).toEqual([
      'ticket_refused',
      'validation_failed',
    ]);

    const focused = `${UPLOADER}.shadowRoot.activeElement?.getAttribute('aria-label')`;
    await page.focus('framelane-uploader');
    for (const label of ['Retry a.mp4', 'Cancel a.mp4']) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(focused)).toBe(label);
    }
    await page.keyboard.press('Enter');
    expect(await events('upload-cancel')).toMatchObject([{ file: 'a.mp4' }]);
    // The focus stays in the list.
    expect(await page.evaluate(focused)).toMatch(/^Cancel x/);
  });

  test('a file that has gone is said to be unreadable at once', async () => {
    await openReadmePage();
    const gone = join(directory, 'gone.mp4');
    await cp(clip, gone);
    await page.evaluate(`${UPLOADER}.setAttribute('endpoint', '/missing')`);
    await choose(gone);
    await page.waitForFunction(`${ROWS}[0]?.includes('not set up')`);
    await rm(gone);
    await page.evaluate(`${UPLOADER}.setAttribute('endpoint', '/tickets')`);
    await page.evaluate(`${UPLOADER}.shadowRoot.querySelector('[part~="toggle"]').click()`);
    await page.waitForFunction(`${ROWS}[0]?.includes('cannot be read any more')`);
    expect((await events('upload-error')).map(({ code }) => code)).toEqual([
      'ticket_refused',
      'file_unreadable',
    ]);
    expect(opened.requested.filter((url) => url.endsWith('/tickets'))).toEqual([]);
  });

  test('files are dropped, folders and a second file refused, texts replaced', async () => {
    await openReadmePage();
    await page.evaluate(`{
      ${UPLOADER}.setAttribute('words', '{"fileType": "Nur Videos.", "chooseOne": "Datei wählen", "remove": "Entfernen"}');
      ${UPLOADER}.removeAttribute('multiple');
      const files = new DataTransfer();
      files.items.add(new File(['x'], 'a.txt', { type: 'text/plain' }));
      files.items.add(new File(['x'], 'b.txt', { type: 'text/plain' }));
      const zone = ${UPLOADER}.shadowRoot.querySelector('[part="zone"]');
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
    }`);
    expect(await page.evaluate(ROWS)).toEqual(['a.txt | Nur Videos.']);
    const text = (part: string) =>
      page.evaluate(`${UPLOADER}.shadowRoot.querySelector('[part~="${part}"]').textContent`);
    expect([await text('choose'), await text('remove')]).toEqual(['Datei wählen', 'Entfernen']);
    // A file that is not refused replaces another one; a refused one cancels no upload.
    const add = (name: string, type: string) =>
      page.evaluate(`${UPLOADER}.upload([new File(['x'], '${name}', { type: '${type}' })])`);
    await page.evaluate(`${UPLOADER}.requestTicket = () => new Promise(() => {})`);
    for (const name of ['c.mp4', 'd.mp4']) await add(name, 'video/mp4');
    await add('e.txt', 'text/plain');
    await add('f.txt', 'text/plain');
    expect(await page.evaluate(ROWS)).toEqual(['d.mp4 | 0 % of 1 byte', 'f.txt | Nur Videos.']);
    expect((await events('upload-cancel')).map(({ file }) => file)).toEqual(['c.mp4']);
    await page.evaluate(
      `{ window.reported = []; addEventListener('error', (event) => { event.preventDefault(); reported.push(event.message); }); }`,
    );
    await page.evaluate(`${UPLOADER}.setAttribute('words', '{"puase": "x"}')`);
    expect(await page.evaluate('reported')).toEqual([expect.stringContaining('no text with the name puase')]);
  });

  test('properties that a page sets before the elements are defined take effect', async () => {
    await openReadmePage();
    // In a document without a window no element is defined.
    await page.evaluate(`{
      const elsewhere = document.implementation.createHTMLDocument();
      const uploader = Object.assign(elsewhere.createElement('framelane-uploader'), { words: { chooseOne: 'Datei wählen' } });
      const player = Object.assign(elsewhere.createElement('framelane-player'), { src: ${JSON.stringify(video.embed)} });
      document.querySelector('framelane-uploader').replaceWith(uploader);
      document.body.append(player);
    }`);
    const frame = await page.waitForSelector('framelane-player >>> iframe');
    expect(await frame?.evaluate((element) => element.src)).toBe(video.embed);
    const button = await page.waitForSelector('framelane-uploader >>> button');
    expect(await button?.evaluate((element) => element.textContent)).toBe('Datei wählen');
  });

  test('a form waits for its files, and has the ids of their videos', async () => {
    await openReadmePage();
    await page.evaluate(`{
      window.form = document.createElement('form');
      document.body.prepend(form);
      ${UPLOADER}.setAttribute('name', 'video');
      ${UPLOADER}.setAttribute('required', '');
      form.append(${UPLOADER});
    }`);
    expect(await page.evaluate('form.checkValidity()')).toBe(false);
    await choose(clip);
    expect(await page.evaluate('form.checkValidity()')).toBe(false);
    const ids = await arrived(1);
    expect(await page.evaluate(`[form.checkValidity(), new FormData(form).getAll('video')]`)).toEqual([
      true,
      ids,
    ]);
    await page.evaluate('form.reset()');
    expect(await page.evaluate(`[${ROWS}, new FormData(form).getAll('video')]`)).toEqual([[], []]);
  });

  test('a player takes a token later, and follows its attributes', async () => {
    await openReadmePage();
    const { token } = await client.api.videos.createPlaybackToken(video.id);
    await page.evaluate(`{
      const player = document.createElement('framelane-player');
      window.names = [];
      player.addEventListener('ready', () => names.push('ready'));
      player.setAttribute('base-url', ${JSON.stringify(target.baseUrl)});
      player.setAttribute('workspace-id', ${JSON.stringify(target.workspaceId)});
      player.setAttribute('video-id', ${JSON.stringify(video.id)});
      player.setAttribute('aspect-ratio', '1/1');
      document.body.append(player);
    }`);
    const { width, height } = (await page.evaluate(`${PLAYER}.getBoundingClientRect().toJSON()`)) as {
      width: number;
      height: number;
    };
    expect([width, height]).toEqual([640, 640]);
    const frame = await page.waitForFrame((each) => each.url() === video.embed);
    await frame.waitForFunction(`document.body.textContent.includes('needs a link with a playback token')`);
    await page.evaluate(`${PLAYER}.token = ${JSON.stringify(token)}`);
    await page.waitForFunction(`names.includes('ready')`);
    await page.evaluate(`${PLAYER}.setAttribute('muted', '')`);
    await page.waitForFunction(`${PLAYER}.getMuted()`);
  });

  test('a token that is set while the frame loads reaches its page', async () => {
    await openReadmePage();
    const { token } = await client.api.videos.createPlaybackToken(video.id);
    await page.evaluate(`{
      const player = Object.assign(document.createElement('framelane-player'), { src: ${JSON.stringify(video.embed)} });
      window.isReady = false;
      player.addEventListener('ready', ({ detail }) => { isReady = detail.methods.includes('play'); });
      document.body.append(player);
      player.mute();
      player.token = ${JSON.stringify(token)};
    }`);
    await page.waitForFunction('isReady');
  });

  test('a file that is cancelled leaves no ticket in the browser', async () => {
    await openReadmePage();
    await page.evaluate(`{
      document.addEventListener('upload-progress', () => ${UPLOADER}.shadowRoot.querySelector('[part~="remove"]').click(), { once: true });
      ${UPLOADER}.upload([new File(['x'], 'a.mp4', { type: 'video/mp4' })]);
    }`);
    await page.waitForFunction(`uploadEvents.some(({ name }) => name === 'upload-cancel')`);
    const [{ videoId = '' } = {}] = await events('upload-cancel');
    client.deleteAtEnd(videoId);
    expect(videoId).toMatch(/^vid_/);
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([]);
  });

  describe('in the pages of the guide to Next.js, rendered on a server', () => {
    test('a file becomes a video, whose page does not move when it is hydrated', async () => {
      await open(`${site.url}/upload`);
      await choose(clip);
      await page.waitForFunction(`location.pathname.startsWith('/videos/')`);
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      client.deleteAtEnd(id);
      const frame = await page.waitForFrame((each) =>
        each.url().includes(`/embed/${target.workspaceId}/${id}`),
      );
      await frame.waitForFunction(`document.querySelector('framelane-video')?.readyState >= 2`);
      const shift = await page.evaluate(`new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().map(({ value }) => value))).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve([])));
      })`);
      expect(shift).toEqual([]);
      expect(await page.evaluate('hydrationErrors')).toEqual([]);
      expect(opened.problems).toEqual([]);
      expect(await seriousFindings(page)).toEqual([]);
      // The style of the server does not win over the page.
      const display = `(${PLAYER}.hidden = true, getComputedStyle(${PLAYER}).display)`;
      expect(await page.evaluate(display)).toBe('none');
    });

    test('a player that is ready before React hydrates the page, and an uploader with other words', async () => {
      const { token } = await client.api.videos.createPlaybackToken(video.id);
      const words = { chooseOne: 'Datei wählen' };
      await open(await site.addLatePage({ src: video.embed, token }, { endpoint: '/api/tickets', words }));
      const lastEvents = `${PLAYER}.lastEvents.map(({ type }) => type).join()`;
      await page.waitForFunction(`${lastEvents} === 'ready'`);
      const frame = await page.waitForFrame((each) => each.url().startsWith(video.embed));
      await frame.evaluate(`parent.postMessage('{"event":"framelane:tokenExpired"}', '*')`);
      await page.waitForFunction(`${lastEvents} === 'ready,tokenexpired'`);
      // Until it has its words, the uploader shows none.
      expect(await page.evaluate(`${UPLOADER}.shadowRoot`)).toBeNull();
      await page.evaluate('hydrateNow()');
      const button = await page.waitForSelector('framelane-uploader >>> button');
      expect(await button?.evaluate((element) => element.textContent)).toBe('Datei wählen');
      await page.waitForFunction('heard.length === 2');
      // Listeners get each event once, also after React has removed and added them.
      for (const [mode, display] of Object.entries({ hidden: 'none', visible: 'block' })) {
        await page.evaluate(`setMode('${mode}')`);
        await page.waitForFunction(`getComputedStyle(${PLAYER}).display === '${display}'`);
      }
      await page.evaluate(`${PLAYER}.getDuration()`);
      expect(await page.evaluate('heard')).toEqual([
        'ready framelane-player',
        'tokenexpired framelane-player',
      ]);
      // For a listener that comes now, the newer token is not expired.
      const newer = await client.api.videos.createPlaybackToken(video.id, { expiresIn: 600 });
      await page.evaluate(`${PLAYER}.token = ${JSON.stringify(newer.token)}`);
      await page.waitForFunction(`${lastEvents} === 'ready'`);
      expect(await page.evaluate('hydrationErrors')).toEqual([]);
      expect(opened.problems).toEqual([]);
    });
  });
});
