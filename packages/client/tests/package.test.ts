import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { installPackedClient } from './support/packed-client.ts';

// The compiler takes its time on a busy machine.
jest.setTimeout(120_000);

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** As somebody would write it, with a mistake in every line that has the comment. */
const CONSUMER = `
import { createClient, FramelaneError, unwrap, verifyWebhook, VideoFailedError, type Schemas, type Video } from '@framelane/client';
import { upload as uploadInBrowser } from '@framelane/client/browser';
import { upload, uploadVideo } from '@framelane/client/node';

const client = createClient({ baseUrl: 'https://video.example.com/v1', apiKey: 'svc_test_1', workspaceId: 'ws_1' });

export async function use(): Promise<void> {
  const { data, error } = await client.GET('/videos/{id}', { params: { path: { id: 'vid_1' } } });
  const title: string | undefined = data?.title;
  const code: string | undefined = error?.code;
  const ticket = await unwrap(client.POST('/videos/upload-ticket', { body: { filename: 'a.mp4' } }));
  await upload('a.mp4', ticket, { onProgress: ({ sent, total }) => [sent, total] });
  await uploadInBrowser(new Blob([]), ticket);
  const { videoId } = await uploadVideo(client, 'a.mp4', { title: 'A', playbackPolicy: 'signed' });
  const hls: string = (await client.waitUntilReady(videoId)).hls;
  const deleted: undefined = await unwrap(client.DELETE('/videos/{id}', { params: { path: { id: videoId } } }));
  for await (const video of client.list('/videos', { params: { query: { status: ['ready'] } } })) keep(video);
  for await (const webhook of client.list('/webhooks')) webhook satisfies Schemas['Webhook'];
  const event = verifyWebhook('{}', new Headers(), 'whsec_');
  if (event.type === 'video.ready') event.data.hls.toUpperCase();
  if (event.type === 'video.failed') event.data.error?.code satisfies string | undefined;
  if (event.type === 'video.deleted') event.data.deletedAt.toUpperCase();
  console.log(title, code, hls, deleted);
}

export function keep(video: Video): string {
  return video.status;
}

export function tell(error: unknown): string {
  if (error instanceof VideoFailedError) return error.video.id;
  return error instanceof FramelaneError ? (error.problem?.title ?? error.code) : '';
}

export async function misuse(): Promise<void> {
  await client.GET('/videos/{id}'); // mistake
  await client.GET('/upload'); // mistake
  await client.POST('/videos/upload-ticket', { body: { title: 'A' } }); // mistake
  client.list('/auth/whoami'); // mistake
  client.list('/webhooks/{id}/deliveries'); // mistake
  await uploadInBrowser('a.mp4', { uploadUrl: '', uploadToken: '' }); // mistake
}
`;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-client-package-'));
  await installPackedClient(directory);
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  await writeFile(join(directory, 'consumer.ts'), CONSUMER);
  await symlink(join(ROOT, 'node_modules', '@types'), join(directory, 'node_modules', '@types'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('the package, installed elsewhere', () => {
  test('is imported by plain Node', async () => {
    const script = `
      const main = await import('@framelane/client');
      const node = await import('@framelane/client/node');
      console.log(Object.keys(main).join(), Object.keys(node).join());
      const client = main.createClient({ baseUrl: 'http://x', apiKey: '', workspaceId: '', fetch: async () => new Response('{}') });
      console.log(JSON.stringify((await client.GET('/auth/whoami')).data));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: directory,
      env: { PATH: process.env.PATH },
    });
    expect(stdout).toBe(
      'FramelaneError,VideoFailedError,createClient,unwrap,verifyWebhook upload,uploadVideo\n{}\n',
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

  test('needs nothing else in a browser than its own modules', async () => {
    const seen = new Set<string>();
    const read = async (file: string): Promise<void> => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = await readFile(join(directory, 'node_modules/@framelane/client/dist', file), 'utf8');
      for (const [, from = ''] of text.matchAll(/\bfrom "([^"]+)"/g)) {
        expect(from).toMatch(/^\.\/[\w-]+\.js$/);
        await read(from);
      }
    };
    await read('./browser.js');
    expect([...seen]).toEqual(['./browser.js', './framelane-error.js', './upload.js']);
  });
});
