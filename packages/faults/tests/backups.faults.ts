import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type ReadyVideo } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { checkStream, violations } from '@framelane/hls-conformance';
import { processesUsing } from '@framelane/test-kit/processes';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { AdminProcess } from '../src/admin-process.ts';
import { makeShortClip } from '../src/clips.ts';
import { HeldFile } from '../src/held-file.ts';
import { HeldUpload } from '../src/raw-upload.ts';

jest.setTimeout(900_000);

const IMPORTS = { IMPORT_ALLOW_CIDRS: '127.0.0.0/8' };
const VTT = 'WEBVTT\n\n00:00.500 --> 00:01.500\nHello\n';

let folder: string;
let file: string;
let imported: HeldFile;
let lost: SingleNodeProcess;
let restored: SingleNodeProcess | undefined;
/** The API of a node. A restored node has the keys of the lost one. */
let apiOf: (node: SingleNodeProcess) => ReturnType<typeof createClient>;

const place = () => join(folder, 'backups');

/** Starts a command with the settings of a data directory. */
function admin(dataDir: string, ...args: string[]): AdminProcess {
  const env = { DATA_DIR: join(folder, dataDir), BACKUP_PASSPHRASE: 'correct horse battery staple' };
  return new AdminProcess(env, ...args);
}

async function succeed(dataDir: string, ...args: string[]): Promise<string> {
  const { code, output, errors } = await admin(dataDir, ...args).ended();
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code}\n${output}${errors}`);
  return output;
}

/** The number of files below a folder, except for unfinished ones. */
async function countFiles(...path: string[]): Promise<number> {
  const entries = await readdir(join(folder, ...path), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('/.')).length;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-backup-'));
  file = await makeShortClip();
  imported = await HeldFile.start(await readFile(file));
  lost = await SingleNodeProcess.start(join(folder, 'lost'), IMPORTS);
  const [apiKey, workspaceId] = [lost.apiKey, lost.fact('Workspace')];
  apiOf = ({ baseUrl }) => createClient({ baseUrl, apiKey, workspaceId });
});
afterAll(async () => {
  await lost?.stop();
  await restored?.stop();
  await imported?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A small library: a video with captions, a clip of it, and a video in CMAF. */
async function publishLibrary(): Promise<ReadyVideo[]> {
  const api = apiOf(lost);
  const publish = async (packaging: 'ts' | 'cmaf') => {
    const ticket = await api.uploadTickets.create({ filename: 'a.mp4', packaging });
    await upload(file, ticket);
    return api.videos.waitUntilReady(ticket.videoId);
  };
  const captioned = await publish('ts');
  await api.captions.set(captioned.id, 'en', VTT);
  const { id } = await api.clips.create(captioned.id, { start: 0.5, end: 1.5 });
  return [captioned, await publish('cmaf'), await api.videos.waitUntilReady(id)];
}

test('a library is restored from a backup made during uploads, although both were killed', async () => {
  const library = await publishLibrary();
  const ticket = await apiOf(lost).uploadTickets.create({ filename: 'held.mp4' });
  const held = await HeldUpload.begin(Number(new URL(ticket.uploadUrl).port), {
    token: ticket.uploadToken,
    file: await readFile(file),
  });
  await held.sendUntil(0.5);
  const { id: importId } = await apiOf(lost).videos.import({ url: imported.url });
  await until(() => imported.connections > 0);

  // While it writes rows, while it copies objects, and while it writes the list of them or later.
  for (const files of [5, 40, 60]) {
    const backup = admin('lost', 'backup', place());
    await backup.killWhen(async () => (await countFiles('backups')) >= files);
  }
  await succeed('lost', 'backup', place());
  await succeed('lost', 'backup', place(), '--keep', '1');
  await succeed('lost', 'backup', 'verify', place());
  await succeed('lost', 'verify');

  // The machine is lost.
  lost.kill('SIGKILL');
  await lost.exited;
  held.client.disconnect();
  await rm(join(folder, 'lost'), { recursive: true });

  const kills = [
    () => countFiles('new', 'objects').then((files) => files >= 3),
    () => countFiles('new', 'objects').then((files) => files >= 15),
    (restore: AdminProcess) => restore.errors.includes('Restoring the database'),
  ];
  for (const condition of kills) {
    const restore = admin('new', 'restore', place());
    expect(await restore.killWhen(() => condition(restore))).toBe(true);
  }
  await succeed('new', 'restore', place());
  expect(await processesUsing(join(folder, 'new'))).toEqual([]);
  await succeed('new', 'verify');

  restored = await SingleNodeProcess.start(join(folder, 'new'), IMPORTS);
  const api = apiOf(restored);
  for (const { id } of library) {
    const video = (await api.videos.get(id)) as ReadyVideo;
    const { report, presentation } = await checkStream(video.hls, {
      profile: 'framelane',
      facts: { variants: video.variants },
    });
    expect([id, violations(report)]).toEqual([id, []]);
    expect(presentation.url).toContain(restored.baseUrl);
  }
  expect(await api.captions.get(library[0]?.id ?? '', 'en')).toContain('Hello');

  // What was in progress goes on: the ticket takes a file, and the import begins again.
  const url = `${restored.engineUrl}/upload`;
  await until(
    async () => {
      const sent = upload(file, { ...ticket, uploadUrl: url });
      return sent.then(
        () => true,
        (error: { code?: string }) => {
          // Until the lease of the lost upload expires.
          if (error.code !== 'upload_in_progress') throw error;
          return false;
        },
      );
    },
    { what: 'the ticket takes a file' },
  );
  imported.release();
  for (const id of [ticket.videoId, importId]) {
    expect(await api.videos.waitUntilReady(id)).toMatchObject({ status: 'ready' });
  }
  await succeed('new', 'verify');
});
