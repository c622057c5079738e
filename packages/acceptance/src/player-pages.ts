import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { newPage, startBrowser } from '@framelane/test-kit/browser';
import type { Browser, Page } from 'puppeteer-core';

/** Pages of another site that play a stream with a library. */
export class PlayerPages {
  readonly #executable: string;
  #browser: Browser | undefined;
  #site: Server | undefined;

  /** The executable is that of Chromium. */
  constructor(executable: string) {
    this.#executable = executable;
  }

  /**
   * Plays with a version of hls.js, by its name in the catalog of pnpm-workspace.yaml. The page has `hls`, `video`, the URLs of the fragments in
   * the buffer (`loaded`) and the errors that ended the playback (`failures`).
   */
  async hls(module: string, url: string, config: Readonly<Record<string, unknown>> = {}): Promise<Page> {
    const page = await this.#open(`${module}/dist/hls.js`);
    await page.evaluate(`
      window.hls = new Hls(${JSON.stringify(config)});
      hls.on(Hls.Events.FRAG_BUFFERED, (_, { frag }) => loaded.push(frag.url));
      hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && failures.push(details));
      hls.loadSource(${JSON.stringify(url)});
      hls.attachMedia(video);
      void video.play();`);
    return page;
  }

  /** Plays with Shaka Player. The page has `player`, `video`, the URLs of all responses (`loaded`) and the errors (`failures`). */
  async shaka(url: string, config: Readonly<Record<string, unknown>> = {}): Promise<Page> {
    const page = await this.#open('shaka-player/dist/shaka-player.compiled.js');
    await page.evaluate(`
      window.player = new shaka.Player();
      player.configure(${JSON.stringify(config)});
      player.addEventListener('error', ({ detail }) => failures.push(detail.code));
      player.getNetworkingEngine().registerResponseFilter((_, { uri }) => loaded.push(uri));
      player.attach(video).then(() => player.load(${JSON.stringify(url)})).then(() => video.play())
        .catch((error) => failures.push(String(error.code ?? error)));`);
    await page.waitForFunction(`failures.length > 0 || video.currentTime > 0`);
    return page;
  }

  /** Opens a page, without waiting for what it plays. */
  async open(url: string): Promise<Page> {
    this.#browser ??= await startBrowser(this.#executable);
    const page = await newPage(this.#browser);
    await page.goto(url, { waitUntil: 'load' });
    return page;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    this.#site?.close();
  }

  async #open(script: string): Promise<Page> {
    if (this.#site === undefined) {
      this.#site = createServer((_, res) =>
        res.setHeader('Content-Type', 'text/html').end('<!doctype html><video muted>'),
      );
      await once(this.#site.listen(0, '127.0.0.1'), 'listening');
    }
    this.#browser ??= await startBrowser(this.#executable);
    const page = await newPage(this.#browser);
    await page.goto(`http://127.0.0.1:${(this.#site.address() as AddressInfo).port}/`);
    const path = createRequire(import.meta.url).resolve(script);
    await page.addScriptTag({ content: await readFile(path, 'utf8') });
    await page.evaluate(`
      window.video = document.querySelector('video');
      window.loaded = [];
      window.failures = [];`);
    return page;
  }
}
