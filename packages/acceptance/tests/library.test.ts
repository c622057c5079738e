import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ReadyVideo } from '@framelane/client';
import { FakeService } from '@framelane/test-kit/fake-service';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { requires } from '@framelane/test-kit/requires';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import { admin } from '../src/console.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { packedCommandLine } from '../src/packed-command-line.ts';
import { readTarget, type Target } from '../src/target.ts';

const target = readTarget(process.env);
const VTT = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nGood morning\n';
const CHAPTERS = 'WEBVTT\n\n00:00.000 --> 00:01.000\nOpening\n\n00:01.000 --> 00:02.000\nQuestions\n';

const { test } = requires(
  'the data directory, for new workspaces',
  target.objectsDir === null ? 'FRAMELANE_OBJECTS_DIR is not set' : null,
);

let directory: string;
let framelane: string;
let clip: string;
/** The workspace of the library, and the one to which it moves. */
let first: FramelaneClient;
let second: FramelaneClient;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-library-'));
  const audio = { sampleRate: 48_000, channels: 1 };
  clip = await makeMp4(directory, { name: 'clip', width: 320, height: 180, rate: '25', seconds: 2, audio });
  if (target.objectsDir === null) return;
  framelane = await packedCommandLine(process.env);
  [first, second] = [await inNewWorkspace('First'), await inNewWorkspace('Second')];
});
afterAll(async () => {
  for (const { api } of [first, second].filter(Boolean))
    for await (const { id } of api.videos.list()) await api.videos.delete(id);
  await rm(directory, { recursive: true });
});

async function inNewWorkspace(name: string): Promise<FramelaneClient> {
  const { id } = JSON.parse(await admin('workspace', 'create', '--json', '--name', name));
  const key = await admin('key', 'create', '--json', '--workspace', id, '--name', 'Tests');
  return new FramelaneClient({ ...target, workspaceId: id, apiKey: JSON.parse(key).secret });
}

function start(
  client: { target: Target },
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const { baseUrl, apiKey, workspaceId } = client.target;
  return spawn(process.execPath, [framelane, ...args], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      FRAMELANE_BASE_URL: baseUrl,
      FRAMELANE_API_KEY: apiKey,
      FRAMELANE_WORKSPACE_ID: workspaceId,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ended(program: ChildProcess) {
  const { stdout, stderr } = program;
  if (stdout === null || stderr === null) throw new Error('The program has no output');
  const [output, errors, [code]] = await Promise.all([text(stdout), text(stderr), once(program, 'close')]);
  return { code: code as number, output, errors };
}

/** Runs a command with `--json`. */
async function run(client: { target: Target }, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { code, output, errors } = await ended(start(client, [...args, '--json'], env));
  return { code, errors, report: output === '' ? undefined : JSON.parse(output) };
}

async function videosOf({ api }: FramelaneClient): Promise<ReadyVideo[]> {
  return (await Array.fromAsync(api.videos.list({ order: 'asc' }))) as ReadyVideo[];
}

async function makeFolder(): Promise<string> {
  const folder = join(directory, 'films');
  await mkdir(join(folder, '2024'), { recursive: true });
  await cp(clip, join(folder, '2024/talk.mp4'));
  await writeFile(join(folder, '2024/talk.en.vtt'), VTT);
  await writeFile(join(folder, '2024/talk.chapters.vtt'), CHAPTERS);
  await ffmpeg('-i', clip, '-frames:v', '1', join(folder, '2024/talk.jpg'));
  await writeFile(
    join(folder, '2024/talk.json'),
    JSON.stringify({
      title: 'Talk / “2024”',
      description: 'About video',
      tags: ['talks', '2024'],
      metadata: { speaker: 'Ada' },
      passthrough: 'talk-1',
      createdAt: '2024-05-01T10:00:00Z',
      playbackPolicy: 'signed',
    }),
  );
  await writeFile(join(folder, 'broken.mp4'), 'This is no video.');
  return folder;
}

const EXPECTED = {
  title: 'Talk / “2024”',
  filename: 'talk.mp4',
  tags: ['talks', '2024'],
  passthrough: 'talk-1',
  playbackPolicy: 'signed',
  chapterCount: 2,
  poster: { width: 320, height: 180 },
  status: 'ready',
};

test('a folder is imported with its sidecars, and a second run imports nothing', async () => {
  const folder = await makeFolder();
  const plan = await run(first, ['import-library', 'folder', folder, '--dry-run']);
  expect(plan).toMatchObject({ code: 0, report: { counts: { planned: 2 } } });
  expect(await videosOf(first)).toEqual([]);

  const file = join(directory, 'report.json');
  const args = ['import-library', 'folder', folder, '--wait', '--report', file];
  const { code, report, errors } = await run(first, args);
  expect(code).toBe(1);
  expect(report).toMatchObject({ complete: true, counts: { imported: 1, failed: 1 } });
  expect(report.items.find(({ name }: { name: string }) => name === 'broken.mp4')).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/video/i),
  });
  expect(errors).toContain('Some videos were not imported');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(report);

  const again = await run(first, args);
  expect(again.report.counts).toEqual({ imported: 0, planned: 0, skipped: 1, failed: 1 });
  const [video] = (await videosOf(first)).filter(({ status }) => status === 'ready');
  expect(video).toMatchObject({
    ...EXPECTED,
    metadata: {
      description: 'About video',
      speaker: 'Ada',
      originalCreatedAt: '2024-05-01T10:00:00Z',
      importedFrom: expect.stringMatching(/^file:/),
    },
    captions: [{ language: 'en', default: false }],
  });
});

test('an export has everything, and is continued without fetching media again', async () => {
  const folder = join(directory, 'export');
  expect(await run(first, ['export', folder])).toMatchObject({ code: 0, report: { exported: 1, failed: 0 } });
  const [video] = (await videosOf(first)).filter(({ status }) => status === 'ready');
  const name = `Talk _ “2024”-${video?.id}`;
  expect((await readdir(folder)).sort()).toEqual([name, 'library.json'].sort());
  expect((await readdir(join(folder, name))).sort()).toEqual([
    'captions.en.vtt',
    'chapters.json',
    'highest.mp4',
    'poster.jpg',
    'source.mp4',
    'video.json',
  ]);
  expect(await readFile(join(folder, name, 'source.mp4'))).toEqual(await readFile(clip));
  // What the export has asked for is deleted again.
  expect(video?.downloads).toEqual([]);
  const library = JSON.parse(await readFile(join(folder, 'library.json'), 'utf8'));
  expect(library.videos).toMatchObject([
    { folder: name, record: { id: video?.id, tags: ['talks', '2024'] } },
  ]);

  const times = () =>
    Promise.all(
      ['source.mp4', 'highest.mp4'].map(async (each) => (await stat(join(folder, name, each))).mtimeMs),
    );
  const before = await times();
  expect(await run(first, ['export', folder])).toMatchObject({ code: 0, report: { exported: 1 } });
  expect(await times()).toEqual(before);
});

test('another workspace gets the same library from the export', async () => {
  const [original] = (await videosOf(first)).filter(({ status }) => status === 'ready');
  const args = ['import-library', 'folder', join(directory, 'export'), '--wait'];
  expect(await run(second, args)).toMatchObject({ code: 0, report: { counts: { imported: 1 } } });
  const [copy, ...others] = await videosOf(second);
  expect(others).toEqual([]);
  expect(copy).toMatchObject(EXPECTED);
  expect(copy?.metadata).toEqual({
    ...original?.metadata,
    importedFrom: `framelane:${original?.id} ${original?.metadata.importedFrom}`,
  });
  expect(copy?.source?.sha256).toBe(original?.source?.sha256);
  for (const get of [
    ({ api }: FramelaneClient, id = '') => api.captions.get(id, 'en'),
    async ({ api }: FramelaneClient, id = '') => (await api.chapters.get(id)).chapters,
  ])
    expect(await get(second, copy?.id)).toEqual(await get(first, original?.id));
  // The folder that the library comes from is known, too.
  const folder = ['import-library', 'folder', join(directory, 'films'), '--include', '2024/*'];
  expect((await run(second, folder)).report.counts).toMatchObject({ imported: 0, skipped: 1 });
});

test('Ctrl-C ends an import cleanly, and the next run goes on', async () => {
  const folder = join(directory, 'two');
  await mkdir(folder);
  for (const name of ['a', 'b'])
    await ffmpeg('-i', clip, '-c', 'copy', '-metadata', `title=${name}`, join(folder, `${name}.mp4`));
  const args = ['import-library', 'folder', folder, '--concurrency', '1', '--wait'];
  const program = start(second, args);
  const finished = ended(program);
  program.stderr?.on('data', (lines: Buffer) => lines.includes('✓') && program.kill('SIGINT'));
  const { code, output, errors } = await finished;
  expect({ code, errors }).toEqual({
    code: 130,
    errors: expect.stringMatching(/^… a\.mp4 .*\n✓ a\.mp4 .*\n(?:… b\.mp4 .*\n)?$/),
  });
  expect(output).toContain('Run the command again to go on.');

  expect(await run(second, args)).toMatchObject({ code: 0, report: { counts: { failed: 0 } } });
  expect((await videosOf(second)).map(({ title }) => title).sort()).toEqual(['Talk / “2024”', 'a', 'b']);
});

test('engines fetch the files of a service, and its credentials appear nowhere', async () => {
  const file = await readFile(clip);
  await using service = await FakeService.start({
    'GET /clip.mp4': { headers: { 'Content-Length': String(file.length) }, body: file },
    'GET /en.vtt': { body: VTT },
  });
  const pagination = { currentPage: 1, pagesTotal: 1 };
  const video = {
    videoId: 'vi1',
    title: 'Served',
    mp4Support: true,
    assets: { mp4: `${service.url}/clip.mp4` },
  };
  const captions = { src: `${service.url}/en.vtt`, srclang: 'en' };
  service.on('GET /videos', { body: { data: [video], pagination } });
  service.on('GET /videos/vi1', { body: video });
  service.on('GET /videos/vi1/captions', { body: { data: [captions], pagination } });
  service.on('GET /videos/vi1/chapters', { body: { data: [], pagination } });
  const args = ['import-library', 'api-video', '--api-url', service.url, '--wait'];
  const result = await run(second, args, { API_VIDEO_API_KEY: 'a-secret-key' });
  expect(result).toMatchObject({ code: 0, report: { counts: { imported: 1 } } });
  expect(JSON.stringify(result)).not.toContain('a-secret-key');
  const imported = (await videosOf(second)).find(({ title }) => title === 'Served');
  expect(imported).toMatchObject({
    status: 'ready',
    metadata: { importedFrom: 'api-video:vi1' },
    captions: [{ language: 'en' }],
  });
});
