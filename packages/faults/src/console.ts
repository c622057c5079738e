import { join } from 'node:path';
import type { OpenedPage } from '@framelane/test-kit/browser';
import { runProgram } from '@framelane/test-kit/run-program';
import { WORKSPACE_ID } from './api.ts';
import type { Cluster } from './cluster.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A link that signs in to the console of a cluster. `options` are those of `admin console-link`. */
export async function signInLink(cluster: Cluster, ...options: string[]): Promise<string> {
  const admin = join(ROOT, 'services/control-plane/src/admin/main.ts');
  const { stdout } = await runProgram(
    process.execPath,
    [admin, 'console-link', '--json', '--workspace', WORKSPACE_ID, ...options],
    {
      env: {
        DATABASE_URL: cluster.postgres.url,
        PUBLIC_URL: `http://127.0.0.1:${cluster.proxies.public.port}`,
      },
    },
  );
  return JSON.parse(stdout).url;
}

/** Drops files on a page, all at once, as from a file manager. */
export async function dropFiles(
  page: OpenedPage['page'],
  files: readonly { title: string; content: Buffer }[],
): Promise<void> {
  await page.evaluate('window.droppedFiles = new DataTransfer()');
  for (const { title, content } of files) {
    const base64 = JSON.stringify(content.toString('base64'));
    await page.evaluate(`droppedFiles.items.add(
      new File([Uint8Array.fromBase64(${base64})], ${JSON.stringify(`${title}.avi`)}))`);
  }
  await page.evaluate(`document.body.dispatchEvent(
    new DragEvent('drop', { dataTransfer: droppedFiles, bubbles: true, cancelable: true }))`);
}
