/**
 * Takes the pictures of the console in docs/images: `pnpm docs:pictures [folder]`. Starts a single node with a library of examples. Run it
 * after a change of the design, look at the pictures, and commit them.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@framelane/client';
import { findBrowser, openPage, startBrowser } from '@framelane/test-kit/browser';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { fillLibrary } from './library.ts';
import { takePictures } from './take-pictures.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../../docs/images');
const executable = findBrowser();
if (executable === undefined)
  throw new Error('The pictures need Chromium. Install it, for instance as the package chromium.');

const directory = await mkdtemp(join(tmpdir(), 'framelane-pictures-'));
const node = await SingleNodeProcess.start(join(directory, 'data'), { ENGINE_PRESET: 'ultrafast' });
const browser = await startBrowser(executable);
try {
  const client = createClient({
    baseUrl: node.baseUrl,
    apiKey: node.apiKey,
    workspaceId: node.fact('Workspace'),
  });
  const videoId = await fillLibrary(client, directory);
  const { page } = await openPage(browser, node.consoleLink, { width: 1440, height: 900 }, 'load');
  await takePictures(page, { consoleUrl: node.baseUrl.replace(/v1$/, 'console'), videoId, folder });
} finally {
  await browser.close();
  await node.stop();
  await rm(directory, { recursive: true });
}
