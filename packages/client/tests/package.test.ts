import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackage } from '@framelane/test-kit/installed-package';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** A user's program. Every line with the comment `mistake` has a type error. */
const CONSUMER = `
import { ApiError, createClient, FramelaneError, unwrap, verifyWebhook, VideoFailedError, type Schemas, type Video } from '@framelane/client';
import { forgetUpload, upload as uploadInBrowser, uploadVideo as uploadVideoInBrowser } from '@framelane/client/browser';
import { upload, uploadVideo } from '@framelane/client/node';

const client = createClient({ baseUrl: 'https://video.example.com/v1', apiKey: 'svc_test_1', workspaceId: 'ws_1' });

export async function use(): Promise<void> {
  const { data, error } = await client.GET('/videos/{id}', { params: { path: { id: 'vid_1' } } });
  const title: string | undefined = data?.title;
  const code: string | undefined = error?.code;
  const raw = await unwrap(client.POST('/videos/upload-ticket', { body: { filename: 'a.mp4' } }));
  const ticket = await client.uploadTickets.create({ filename: 'a.mp4' }, { retries: 0, timeoutMs: 1000 });
  raw satisfies typeof ticket;
  await upload('a.mp4', ticket, { onProgress: ({ sent, total }) => [sent, total] });
  await uploadInBrowser(new Blob([]), ticket);
  await uploadVideoInBrowser(new File([], 'a.mp4'), async () => ticket, { retries: 3, scope: '/tickets', onTicket: ({ videoId }) => videoId });
  forgetUpload(new File([], 'a.mp4'), { scope: '/tickets' });
  const { videoId } = await uploadVideo(client, 'a.mp4', { title: 'A', playbackPolicy: 'signed' });
  const hls: string = (await client.videos.waitUntilReady(videoId)).hls;
  const deleted: undefined = await client.videos.delete(videoId);
  const poster = { params: { path: { id: videoId } }, body: new Blob([]), headers: { 'Content-Type': 'image/jpeg' } };
  await client.PUT('/videos/{id}/poster', poster);
  const image = await client.GET('/watermarks/{id}/image', { params: { path: { id: 'wmk_1' } }, parseAs: 'blob', retries: 1 });
  image.data satisfies Blob | undefined;
  await client.videos.update(videoId, { metadata: { owner: null } });
  for await (const video of client.videos.list({ status: ['ready'] })) keep(video);
  for await (const webhook of client.webhooks.list()) webhook satisfies Schemas['Webhook'];
  const event = verifyWebhook('{}', new Headers(), 'whsec_');
  if (event.type === 'video.ready') event.data.hls.toUpperCase();
  if (event.type === 'video.failed') event.data.error?.code satisfies string | undefined;
  if (event.type === 'video.deleted') event.data.deletedAt.toUpperCase();
  console.log(title, code, hls, deleted);
}

export function keep(video: Video): string {
  return video.status;
}

export function describe(error: unknown): string {
  if (error instanceof VideoFailedError) return error.video.id;
  if (error instanceof ApiError) return error.problem.title + String(error.status + 1);
  return error instanceof FramelaneError ? error.code : '';
}

export async function misuse(): Promise<void> {
  await client.GET('/videos/{id}'); // mistake
  await client.GET('/upload'); // mistake
  await client.POST('/files'); // mistake
  await client.DELETE('/auth/whoami'); // mistake
  await client.GET('/auth/whoami', { retry: 1 }); // mistake
  await client.POST('/videos/upload-ticket', { body: { title: 'A' } }); // mistake
  await client.videos.get(); // mistake
  await client.videos.update('vid_1', { title: 1 }); // mistake
  client.webhooks.listDeliveries(); // mistake
  await uploadInBrowser('a.mp4', { uploadUrl: '', uploadToken: '' }); // mistake
}
`;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-client-package-'));
  await installPackage('client', directory);
  await writeFile(join(directory, 'consumer.ts'), CONSUMER);
});
afterAll(() => rm(directory, { recursive: true }));

describe('the package, installed outside of the workspace', () => {
  test('is imported by plain Node', async () => {
    const script = `
      const main = await import('@framelane/client');
      const node = await import('@framelane/client/node');
      console.log(Object.keys(main).join(), Object.keys(node).join());
      const client = main.createClient({ baseUrl: 'http://x', apiKey: 'svc_1', workspaceId: 'ws_1', fetch: async () => new Response('{}') });
      console.log(JSON.stringify(await client.account.whoami()));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: directory,
      env: { PATH: process.env.PATH },
    });
    expect(stdout).toBe(
      'ApiError,ConnectionError,FramelaneError,VideoFailedError,createClient,previewUrl,thumbnailUrl,unwrap,verifyWebhook upload,uploadVideo\n{}\n',
    );
  });

  test.each([
    ['Node, and exact optional properties', ['--module', 'nodenext', '--exactOptionalPropertyTypes']],
    [
      'a bundler with the types of browsers',
      ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable'],
    ],
  ])('is typed for %s', async (_what, options) => {
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const common = [
      '--noEmit',
      '--pretty',
      'false',
      '--strict',
      '--target',
      'es2022',
      '--types',
      'node',
      // The compiler's own types, not those of the package.
      '--skipDefaultLibCheck',
      'consumer.ts',
    ];
    const { stdout = '' } = await run(tsc, [...common, ...options], { cwd: directory }).catch(
      (failed: { stdout?: string }) => failed,
    );
    const faulty = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error (.*)$/gm)];
    const mistakes = CONSUMER.split('\n').flatMap((line, index) =>
      line.includes('// mistake') ? index + 1 : [],
    );
    expect(faulty.filter(([, file]) => file !== 'consumer.ts').map(([line]) => line)).toEqual([]);
    expect([...new Set(faulty.map(([, , line]) => Number(line)))]).toEqual(mistakes);
  });

  test('needs only its own modules in a browser', async () => {
    const seen = new Set<string>();
    const read = async (file: string): Promise<void> => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = await readFile(join(directory, 'node_modules/@framelane/client', file), 'utf8');
      for (const [, from = ''] of text.matchAll(/\bfrom '([^']+)'/g)) {
        expect(from).toMatch(/^\.\/[\w-]+\.js$/);
        await read(from);
      }
    };
    await read('./browser.js');
    expect([...seen]).toEqual([
      './browser.js',
      './framelane-error.js',
      './kept-ticket.js',
      './resumable-upload.js',
      './parse-body.js',
      './pause.js',
      './upload.js',
    ]);
  });
});
