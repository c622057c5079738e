import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngOf } from '@framelane/test-kit/png';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import { CreatedResources } from '../src/created-resources.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const GUIDES = join(ROOT, 'docs');

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const created = new CreatedResources(client);
const directory = await mkdtemp(join(tmpdir(), 'framelane-guides-'));

let clip: string;
let env: Record<string, string>;

beforeAll(async () => {
  clip = await makeMp4(directory, {
    name: 'sample',
    width: 320,
    height: 180,
    rate: '25',
    seconds: 5,
    audio: { sampleRate: 48_000, channels: 2 },
  });
  const { id, hls, embed } = await client.publish(clip);
  const webhook = await client.call('POST', '/webhooks', { url: 'https://endpoint.invalid/' });
  created.record(await webhook.clone().text());
  await writeFile(join(directory, 'captions.en.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
  await writeFile(join(directory, 'chapters.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\nOpening\n');
  await writeFile(join(directory, 'poster.jpg'), jpegOf(1280, 720));
  await writeFile(join(directory, 'logo.png'), pngOf(64, 32));
  // curl exits with an error after an error response.
  await writeFile(join(directory, '.curlrc'), 'fail-with-body\n');
  env = {
    CURL_HOME: directory,
    KEY: target.apiKey,
    WORKSPACE: target.workspaceId,
    VIDEO: id,
    HLS: hls,
    EMBED: embed,
    WEBHOOK: ((await webhook.json()) as { id: string }).id,
    FILE: clip,
  };
});
afterAll(async () => {
  await created.remove();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

const blocks = (await readdir(GUIDES))
  .filter((name) => name.endsWith('.md'))
  .map(async (name) =>
    linesToPaste(await readFile(join(GUIDES, name), 'utf8')).map((lines) => ({ name, lines })),
  );
const pasted = (await Promise.all(blocks)).flat();

test('the guides have lines to paste', () => {
  const guides = new Set(pasted.map(({ name }) => name));
  expect([...guides]).toEqual(
    expect.arrayContaining(['keys-and-permissions.md', 'playback.md', 'webhooks.md']),
  );
});

/** Guides whose lines show what others have created. */
const READ_ONLY = ['audit.md', 'requests.md'];

test.each(pasted)('the lines of $name work: $lines', async ({ name, lines }) => {
  const { stdout } = await run(lines);
  if (!READ_ONLY.includes(name)) created.record(stdout);
});

test('the lines of the README create a ready video', async () => {
  const [lines = ''] = linesToPaste(await readFile(join(ROOT, 'README.md'), 'utf8'));
  const { stdout } = await run(lines);
  created.record(stdout);
  const [ticket, receipt, video] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(receipt).toMatchObject({ videoId: ticket.videoId, status: 'processing' });
  expect(video).toMatchObject({ id: ticket.videoId, status: 'ready', variants: ['360p'] });
});

/** Code blocks that begin with a request or a player. */
function linesToPaste(markdown: string): string[] {
  const all = [...markdown.matchAll(/```sh\n(.*?)```/gs)].map(([, lines = '']) => lines);
  return all.filter((lines) => /^(TICKET=|curl|ffmpeg)/.test(lines));
}

/** Runs lines unchanged except for URLs. Rejects if one of them fails. */
async function run(lines: string): Promise<{ stdout: string; stderr: string }> {
  const here = lines
    .replaceAll('http://localhost:8080/v1', target.baseUrl)
    .replaceAll('http://localhost:8090', target.engineUrl)
    .replaceAll('http://localhost:3000/', 'https://endpoint.invalid/');
  return runProgram('bash', ['-eo', 'pipefail', '-c', here], { env, cwd: directory });
}
