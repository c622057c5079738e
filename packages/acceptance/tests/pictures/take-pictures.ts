import { join } from 'node:path';
import type { Page } from 'puppeteer-core';

type Place = { consoleUrl: string; videoId: string; folder: string };

/** Takes the pictures of a console in which `page` is signed in. */
export async function takePictures(page: Page, { consoleUrl, videoId, folder }: Place): Promise<void> {
  const take = async (path: string, name: string, ready: string) => {
    await page.goto(`${consoleUrl}/${path}`);
    await page.waitForFunction(`${ready} && document.getAnimations().length === 0`);
    await page.screenshot({ path: join(folder, `${name}.png`) as `${string}.png` });
  };
  const posters = `document.querySelectorAll('img.poster').length >= 8 &&
    [...document.querySelectorAll('img.poster')].every(({ complete }) => complete)`;
  await page.waitForFunction(`document.title.startsWith('Home')`);
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await take('videos', scheme === 'light' ? 'console-videos' : 'console-videos-dark', posters);
  }
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await take('', 'console-home', `document.querySelectorAll('.video-line img.poster').length >= 4`);
  const player = `document.querySelector('iframe')?.contentDocument?.querySelector('framelane-video')?.readyState >= 2`;
  await take(`videos/${videoId}`, 'console-video', player);
}
