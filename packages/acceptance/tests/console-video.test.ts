import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import type { OpenedPage } from '@framelane/test-kit/browser';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { makeMp4 } from '../src/clips.ts';
import {
  click,
  client,
  endSession,
  fill,
  follow,
  heading,
  inspect,
  openTab,
  problemsOf,
  publicUrl,
  signIn,
  testInBrowser,
  textOf,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';

/** A text that would run a script, and break attributes, if a page did not escape it. */
const HOSTILE = `"'><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>`;
const CAPTIONS = 'WEBVTT\n\n00:00.000 --> 00:02.000\nHello\n';
const LATE_CAPTIONS = 'WEBVTT\n\n10:00:00.000 --> 10:00:02.000\nHello\n';

/** Makes the console treat each playback token as expired, although it is valid for an hour. */
const SOON_EXPIRED = `
  const send = window.fetch;
  window.fetch = async (...request) => {
    const response = await send(...request);
    if (!response.url.endsWith('/playback-tokens')) return response;
    const token = { ...(await response.json()), expiresAt: new Date().toISOString() };
    return new Response(JSON.stringify(token), response);
  };`;

useConsole();

let directory: string;
/** Ready. The tests share it, and leave it public, with its file and without captions, except for the last test. */
let video: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-video-'));
  const audio = { sampleRate: 48_000, channels: 2 };
  const plan = { name: 'detail', width: 360, height: 640, rate: '25', seconds: 3, audio };
  video = await client.publish(await makeMp4(directory, plan));
});
afterAll(() => rm(directory, { recursive: true }));

/** Chooses a file of the directory in a field. */
async function chooseFile(page: Page, label: string, name: string): Promise<void> {
  const input = await page.waitForSelector(`input[aria-label="${label}"]`);
  await (input as Awaited<ReturnType<typeof page.$<'input'>>>)?.uploadFile(join(directory, name));
}

/** Signs in and opens the page of the video. */
async function openVideo(id: string, ...options: string[]): Promise<OpenedPage> {
  const opened = await signIn(...options);
  await opened.page.goto(`${publicUrl}/console/videos/${id}`);
  const { title } = await client.video(id);
  await heading(opened.page, title);
  return opened;
}

/** Dismisses the dialogs of the browser. Returns the texts of those that were shown. */
function dismissQuestions(page: Page): string[] {
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  return asked;
}

/** Drops a file on the form for captions, as from a file manager. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  await page.waitForSelector('[data-drop="captions"]');
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
    document.querySelector('[data-drop="captions"]')
      .dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }`);
  await untilText(page, name);
}

/** Lets the player show the frame at a second. */
async function seek(page: Page, seconds: number): Promise<void> {
  const media = `document.querySelector('framelane-video')`;
  const frame = await (await page.waitForSelector('iframe.player'))?.contentFrame();
  await frame?.waitForFunction(`${media}?.readyState >= 2`);
  await frame?.evaluate(`${media}.currentTime = ${seconds}`);
}

/** Waits until the player offers captions with this label. */
async function untilPlayerOffers(page: Page, label: string): Promise<void> {
  const labels = `[...(document.querySelector('framelane-video')?.textTracks ?? [])].map((track) => track.label)`;
  const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
  await frame?.waitForFunction(`${labels}.includes(${JSON.stringify(label)})`);
}

testInBrowser('facts, renditions, timeline and captions, whose errors have a line', async () => {
  const opened = await openVideo(video.id);
  const { page } = opened;
  await untilText(page, '360 × 640');
  // The player has the shape of the video.
  expect(
    await page.$eval('iframe.player', (frame) => (9 * frame.clientHeight) / (16 * frame.clientWidth)),
  ).toBeCloseTo(1, 1);
  const current = await page.$$eval('nav[aria-label="Pages"] [aria-current]', (links) =>
    links.map((link) => link.textContent),
  );
  expect(current).toEqual(['Videos']);
  expect(await textOf(page, 'Video id')).toBe(video.id);
  await openTab(page, 'Outputs');
  await untilText(page, 'avc1.');
  await untilText(page, 'h264, aac');
  await inspect(opened, 'video-outputs');
  await openTab(page, 'Activity');
  for (const step of ['Upload ticket created', 'Upload finished', 'Attempt 1 completed', 'Ready to play']) {
    await untilText(page, step);
  }
  await openTab(page, 'Share');
  expect(await textOf(page, 'Playlist (HLS)')).toBe(video.hls);
  await openTab(page, 'Captions and chapters');
  expect(await textOf(page, 'Captions, with an API key in KEY')).toContain(video.id);

  await click(page, 'Add captions');
  await drop(page, 'clip.en.vtt', 'WEBVTT\n\n00:00 --> 00:02\nHello\n');
  await click(page, 'Save captions');
  await untilText(page, 'Line 3: the times cannot be read.');
  await inspect(opened, 'video-captions', /(status of|responded with) 400/);
  await drop(page, 'late.en.vtt', LATE_CAPTIONS);
  await click(page, 'Save captions');
  await untilText(page, 'the cue begins at 10:00:00.000, but the video ends at 00:00:03.000');
  await drop(page, 'clip.en.vtt', CAPTIONS);
  expect(await textOf(page, 'Language')).toBe('en');
  await fill(page, 'Language', 'Englich');
  await untilText(page, '“Englich” is not the English name of a language.');
  await fill(page, 'Language', 'English');
  await fill(page, 'Label', HOSTILE);
  await click(page, 'Save captions');
  await untilText(page, '1 cue · added to the video');
  // Attributes of playlists cannot contain double quotes.
  await untilPlayerOffers(page, HOSTILE.replaceAll('"', "'"));

  await click(page, `Replace: ${HOSTILE} (en)`);
  await drop(
    page,
    'clip.srt',
    '1\n00:00:00,000 --> 00:00:01,000\nA\n\n2\n00:00:01,000 --> 00:00:02,000\nB\n',
  );
  await fill(page, 'Label', 'English');
  await click(page, 'Save captions');
  await untilText(page, '2 cues · added to the video');
  await untilPlayerOffers(page, 'English');
  await click(page, 'Make default: English (en)');
  await page.waitForSelector('::-p-aria([name="Stop showing by default: English (en)"])');
  await inspect(opened, 'video-detail', /(status of|responded with) 400/);

  await click(page, 'Delete: English (en)');
  await click(page, 'Delete captions');
  await untilText(page, 'This video has no captions.');
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);
  expect(problemsOf(opened, /(status of|responded with) 400/)).toEqual([]);
});

testInBrowser(
  'the parts of the page are tabs: in the address, by keyboard, and they keep what was typed',
  async () => {
    const opened = await openVideo(video.id);
    const { page } = opened;
    const asked = dismissQuestions(page);
    const chosen = () => page.$eval('[role="tab"][aria-selected="true"]', (tab) => tab.textContent);
    const press = async (key: 'ArrowLeft' | 'ArrowRight' | 'Home' | 'End', name: string, search: string) => {
      await page.keyboard.press(key);
      await page.waitForFunction(
        `document.activeElement.textContent === '${name}' && location.search === '${search}'`,
      );
      expect(await chosen()).toBe(name);
    };
    await fill(page, 'Title of the clip', 'Typed before');
    await page.focus('[role="tab"][aria-selected="true"]');
    await press('ArrowRight', 'Captions and chapters', '?tab=captions');
    await click(page, 'Edit chapters');
    await click(page, 'Add chapter at the time of the player');
    await fill(page, 'Title 1', 'Not saved');
    await page.focus('[role="tab"][aria-selected="true"]');
    await press('End', 'Activity', '?tab=activity');
    await press('ArrowRight', 'Overview', '');
    expect(await textOf(page, 'Title of the clip')).toBe('Typed before');
    await press('ArrowLeft', 'Activity', '?tab=activity');
    // A form behind another tab asks before it is lost.
    expect(asked).toEqual([]);
    await page.evaluate(`document.querySelector('nav[aria-label="Pages"] a').click()`);
    expect(asked).toEqual(['Discard the changes that are not saved?']);
    await openTab(page, 'Captions and chapters');
    expect(await textOf(page, 'Title 1')).toBe('Not saved');
    await click(page, 'Cancel');
    await openTab(page, 'Activity');
    // Only the panel of the chosen tab is shown, and the tab names it.
    const panels = await page.$$eval('[role="tabpanel"]', (all) =>
      all.filter((panel) => panel.checkVisibility()).map((panel) => panel.id),
    );
    const controls = await page.$eval('[role="tab"][aria-selected="true"]', (tab) =>
      tab.getAttribute('aria-controls'),
    );
    expect(panels).toEqual([controls]);
    await page.reload();
    await untilText(page, 'Ready to play');
    expect(await chosen()).toBe('Activity');

    await click(page, 'Use in code');
    await page.waitForFunction(`document.activeElement.textContent === 'Code'`);
    await page.goto(`${publicUrl}/console/videos/${video.id}?tab=nothing`);
    await untilText(page, 'A clip is a new video');
    expect(await chosen()).toBe('Overview');
    // The tabs are one entry of the history.
    await openTab(page, 'Share');
    await page.goBack();
    await page.waitForFunction(`location.search === '?tab=code'`);
    expect(problemsOf(opened)).toEqual([]);
  },
);

testInBrowser('captions are edited, and asked for from speech recognition', async () => {
  await client.api.captions.set(video.id, 'de', CAPTIONS, { label: 'Deutsch' });
  const opened = await openVideo(video.id);
  const { page } = opened;
  await openTab(page, 'Captions and chapters');
  await click(page, 'Edit: Deutsch (de)');
  await fill(page, 'Text', 'WEBVTT\n\n00:00.000 --> 00:0x.000\nHallo\n');
  await click(page, 'Save captions');
  await untilText(page, 'Line 3: the times cannot be read.');
  await fill(page, 'Text', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHallo\n\n00:01.000 --> 00:02.000\nTschüss\n');
  await click(page, 'Save captions');
  await untilText(page, 'de · 2 cues · added to the video');
  expect(await client.api.captions.get(video.id, 'de')).toContain('Tschüss');

  await click(page, 'Generate captions');
  await fill(page, 'Languages', 'Englich');
  await click(page, 'Start recognition');
  await untilText(page, 'must be a BCP 47 language tag');
  await fill(page, 'Languages', 'de');
  await click(page, 'Start recognition');
  await untilText(page, 'This video has captions in de that no machine has made.');
  await inspect(opened, 'video-generate-captions', /(status of|responded with) 4\d\d/);
  await fill(page, 'Languages', 'fr');
  await click(page, 'Start recognition');
  // The video has a tone, in which a recogniser may or may not hear words.
  const state = await until(async () => {
    const { autoCaptions } = await client.api.videos.get(video.id);
    return autoCaptions[0]?.status !== 'preparing' && autoCaptions[0];
  });
  await untilText(page, state?.error?.message ?? 'made by speech recognition');
  for (const language of ['de', 'fr']) await client.api.captions.delete(video.id, language).catch(() => {});
  expect(problemsOf(opened, /(status of|responded with) 4\d\d/)).toEqual([]);
});

testInBrowser('chapters are edited beside the player, and imported from WebVTT', async () => {
  const opened = await openVideo(video.id);
  const { page } = opened;
  await openTab(page, 'Captions and chapters');
  await untilText(page, 'This video has no chapters.');
  const frame = await (await page.waitForSelector('iframe.player'))?.contentFrame();
  const media = `document.querySelector('framelane-video')`;
  await frame?.waitForFunction(`${media}?.readyState >= 2`);
  const untilPlayerHas = async (count: number) => {
    const player = await (await page.waitForSelector('iframe.player'))?.contentFrame();
    await player?.waitForFunction(
      `document.querySelector('chapters-menu')?.mediaChaptersCues.length === ${count}`,
    );
  };
  const add = 'Add chapter at the time of the player';

  await click(page, 'Edit chapters');
  await frame?.evaluate(`${media}.currentTime = 1.5`);
  await click(page, add);
  await page.waitForSelector('::-p-aria([name="Title 1"])');
  expect(await textOf(page, 'Start 1')).toBe('0:01.5');
  await fill(page, 'Title 1', HOSTILE);
  await frame?.evaluate(`${media}.currentTime = 0`);
  await click(page, add);
  await page.waitForSelector('::-p-aria([name="Title 2"])');
  expect(await textOf(page, 'Title 2')).toBe(HOSTILE);
  await fill(page, 'Title 1', 'Opening');
  await fill(page, 'Start 2', 'soon');
  await click(page, 'Save chapters');
  await untilText(page, 'Write a time such as 1:02.5.');
  await fill(page, 'Start 2', '0:00');
  await click(page, 'Save chapters');
  await untilText(page, 'This is the start of another chapter, too.');
  await inspect(opened, 'video-chapters-form', /(status of|responded with) 400/);
  await fill(page, 'Start 2', '0:01.5');
  await click(page, 'Save chapters');
  await page.waitForSelector('ol.chapters');
  expect((await client.api.chapters.get(video.id)).chapters).toEqual([
    { start: 0, title: 'Opening' },
    { start: 1.5, title: HOSTILE },
  ]);
  await untilPlayerHas(2);
  await inspect(opened, 'video-chapters', /(status of|responded with) 400/);

  const choose = async (name: string, content: string) => {
    await writeFile(join(directory, name), content);
    await chooseFile(page, 'File with chapters', name);
  };
  await choose('wrong.vtt', 'WEBVTT\n\n00:09.000 --> 00:10.000\nLate\n');
  await untilText(page, 'the cue begins at 00:00:09.000, but the video ends at 00:00:03.000');
  await choose('right.vtt', 'WEBVTT\n\n00:00.500 --> 00:02.000\nImported\n');
  await untilText(page, 'Imported');
  await untilPlayerHas(1);

  await click(page, 'Edit chapters');
  await click(page, 'Remove chapter 1');
  await click(page, 'Save chapters');
  await untilText(page, 'This video has no chapters.');
  expect((await client.video(video.id)).chapterCount).toBe(0);
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);
  expect(problemsOf(opened, /(status of|responded with) 400/)).toEqual([]);
});

testInBrowser('a poster is chosen from any image, shown, and removed', async () => {
  const opened = await openVideo(video.id);
  const { page } = opened;
  const choose = (name: string) => chooseFile(page, 'File with the poster', name);
  /** The colour in the middle of the poster of the page. */
  const colour = () =>
    page.evaluate(`(async () => {
      const image = document.querySelector('img.poster');
      await image.decode();
      const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
      context.drawImage(image, image.naturalWidth / 2, image.naturalHeight / 2, 1, 1, 0, 0, 1, 1);
      return [image.naturalWidth, image.naturalHeight, ...context.getImageData(0, 0, 1, 1).data.map((value) => Math.round(value / 64))];
    })()`);
  await untilText(page, 'A frame of the video');
  await writeFile(join(directory, 'notes.png'), 'not an image');
  await choose('notes.png');
  await untilText(page, 'notes.png cannot be read.');
  const red = ['-f', 'lavfi', '-i', 'color=red:size=2400x1200', '-frames:v', '1', join(directory, 'red.png')];
  await runProgram('ffmpeg', ['-v', 'error', ...red]);
  await choose('red.png');
  await untilText(page, 'Your image, 1920 × 960');
  await page.waitForSelector('img.poster');
  expect(await colour()).toEqual([1920, 960, 4, 0, 0, 4]);
  expect((await client.video(video.id)).poster).toMatchObject({ width: 1920, height: 960 });
  await inspect(opened, 'video-poster');
  await click(page, 'Remove poster');
  await click(page, 'Remove');
  await untilText(page, 'A frame of the video');
  await page.waitForFunction(`document.querySelector('img.poster')?.naturalWidth === 360`);

  await seek(page, 2.04);
  await click(page, 'Use current frame');
  await untilText(page, 'The frame at 0:02.04');
  expect((await client.video(video.id)).posterTime).toBe(2.04);
  await client.api.videos.update(video.id, { posterTime: null });
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('a clip is made between two points of the player', async () => {
  const opened = await openVideo(video.id);
  const { page } = opened;
  const points = async () => [await textOf(page, 'In'), await textOf(page, 'Out')];
  await untilText(page, 'A clip is a new video');
  expect(await points()).toEqual(['0:00', '0:03']);
  // Within a frame, and at the beginning of one.
  await seek(page, 0.55);
  await click(page, 'Set in point');
  await until(async () => (await textOf(page, 'In')) === '0:00.52');
  await seek(page, 2);
  await click(page, 'Set out point');
  await until(async () => (await textOf(page, 'Out')) === '0:02');
  await fill(page, 'Out', 'soon');
  await click(page, 'Make clip');
  await untilText(page, 'Write a time such as 1:02.5.');
  await fill(page, 'Out', '0:09');
  await click(page, 'Make clip');
  await untilText(page, 'must be at most 3, the duration of the video in seconds');
  await inspect(opened, 'video-clip', /(status of|responded with) 400/);
  await fill(page, 'Out', '0:02');
  await fill(page, 'Title of the clip', 'The best moment');
  await click(page, 'Make clip');
  await untilText(page, 'The clip is being made:');
  await follow(page, 'The best moment');
  await heading(page, 'The best moment');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const clip = await client.api.videos.waitUntilReady(id);
  expect(clip.clipOf).toEqual({ videoId: video.id, start: 0.52, end: 2 });
  await untilText(page, '0:00.52 to 0:02 of another video');
  await openTab(page, 'Activity');
  for (const words of ['Clip requested', 'Ready to play']) await untilText(page, words);
  await client.api.videos.delete(id);
  expect(problemsOf(opened, /(status of|responded with) 400/)).toEqual([]);
});

testInBrowser('the page of a video before its upload, and after two failed attempts', async () => {
  const ticket = await client.requestTicket({ filename: 'notes.mp4' });
  const opened = await openVideo(ticket.videoId);
  const { page } = opened;
  await untilText(page, 'Framelane waits for the file. The upload must start before');
  await untilText(page, 'When the file is complete, an engine transcodes it.');
  // There is nothing to play, and nothing to show the progress of.
  expect(await page.$('iframe, [role="progressbar"]')).toBeNull();
  await inspect(opened, 'video-stage');
  await client.upload(ticket, new Blob(['These are notes and no video.']));
  await untilText(page, 'Check that you chose the right file.');
  await untilText(page, 'Attempt 1 failed');
  await click(page, 'Retry anyway');
  await untilText(page, 'Attempt 2 failed');
  const steps = await page.$$eval('.timeline li', (items) => items.map(({ dataset }) => dataset.type));
  // The last two are the second attempt and the video itself.
  expect(steps).toEqual(['created', 'uploaded', 'failed', 'retried', 'failed', 'failed']);
  await inspect(opened, 'video-failed');
});

testInBrowser('an edit survives the end of the session, a wrong field and a click on a link', async () => {
  const opened = await openVideo(video.id);
  const { page } = opened;
  const asked = dismissQuestions(page);
  await click(page, 'Edit');
  await fill(page, 'Title', HOSTILE);
  await click(page, 'Add entry');
  await fill(page, 'Name 1', 'campaign');
  await fill(page, 'Value 1', HOSTILE);
  await page.select('::-p-aria([name="Sites that may show the player"])', 'list');
  await fill(page, 'Origins, one a line', 'https://a.example\njavascript:alert(1)');

  await page.keyboard.press('Escape');
  // Clicks a link behind the dialog, which leaves the page as keys of the browser can.
  await page.evaluate(`document.querySelector('nav[aria-label="Pages"] a').click()`);
  expect(asked).toEqual(Array.from({ length: 2 }, () => 'Discard the changes that are not saved?'));
  expect(await textOf(page, 'Title')).toBe(HOSTILE);

  await client.call('PATCH', `/videos/${video.id}`, { title: 'Renamed elsewhere', tags: ['kept'] });
  await endSession(page);
  await click(page, 'Save');
  await untilText(page, 'Your session has ended');
  const other = await signIn();
  await other.page.close();
  await page.bringToFront();
  await untilGone(page, 'Your session has ended');
  await untilText(page, 'Somebody else has changed the title.');

  await click(page, 'Save');
  await untilText(page, '“javascript:alert(1)” must be an origin such as https://www.example.com');
  expect(await page.evaluate('document.body.innerText')).not.toMatch(/oneOf|schema/);
  await inspect(opened, 'video-edit', /(status of|responded with) 40[01]/);
  await fill(page, 'Origins, one a line', 'https://a.example');
  await click(page, 'Save');
  await heading(page, HOSTILE);
  await untilGone(page, 'Edit video');
  expect(await client.video(video.id)).toMatchObject({
    title: HOSTILE,
    tags: ['kept'],
    metadata: { campaign: HOSTILE },
    allowedOrigins: ['https://a.example'],
  });
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);
  await inspect(opened, 'video-hostile', /(status of|responded with) 40[01]/);
  await client.call('PATCH', `/videos/${video.id}`, {
    title: 'detail',
    metadata: null,
    allowedOrigins: null,
  });
});

testInBrowser(
  'a signed video has links that expire, and its file can be downloaded and deleted',
  async () => {
    await client.call('PATCH', `/videos/${video.id}`, { playbackPolicy: 'signed' });
    const reader = await openVideo(video.id, '--permissions', 'videos:read');
    for (const tab of ['Captions and chapters', 'Outputs', 'Share']) await openTab(reader.page, tab);
    await reader.page.select('::-p-aria([name="Valid for"])', '604800');
    await click(reader.page, 'Create playback link');
    await untilText(reader.page, 'This link ends at ');
    const link = await textOf(reader.page, 'Playlist (HLS)');
    expect((await fetch(link)).status).toBe(200);
    expect(await textOf(reader.page, 'HTML for a site')).toContain('?token=');
    for (const name of ['Edit', 'Add captions', 'Download', 'Delete file', 'Delete video']) {
      expect(await reader.page.$(`::-p-aria([name="${name}"])`)).toBeNull();
    }
    await inspect(reader, 'video-signed');
    await follow(reader.page, 'All videos');

    const opened = await signIn();
    const { page } = opened;
    await page.evaluateOnNewDocument(SOON_EXPIRED);
    await page.goto(`${publicUrl}/console/videos/${video.id}?tab=outputs`);
    const address = await page.waitForSelector('iframe').then((frame) => frame?.evaluate(({ src }) => src));
    const first = new URL(address ?? '').searchParams.get('token');
    // The player sends a request with a newer token, and was not loaded again.
    await page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      return pathname.endsWith('/state') && (searchParams.get('token') ?? first) !== first;
    });
    expect(await page.$eval('iframe', ({ src }) => src)).toBe(address);
    const source = await page.evaluate(`fetch(document.querySelector('a[download]').href)
    .then(async (response) => [response.status, (await response.arrayBuffer()).byteLength])`);
    expect(source).toEqual([200, video.size]);
    await click(page, 'Delete file');
    await inspect(opened, 'video-delete-file');
    await page.locator('[role="dialog"] button[type="submit"]').click();
    await untilText(page, 'It was deleted at');
    await openTab(page, 'Activity');
    await untilText(page, 'Uploaded file deleted');
    expect((await client.video(video.id)).sourceFile.stored).toBe(false);
    expect(problemsOf(opened)).toEqual([]);
  },
);
