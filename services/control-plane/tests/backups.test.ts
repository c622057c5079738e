import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@framelane/contracts/ids';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { imageKey, segmentKey, sourceKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AdminHost } from '../src/admin/host.ts';
import type { MadeBackup } from '../src/backups/backup.ts';
import type { Restored } from '../src/backups/restore.ts';
import type { Verification } from '../src/backups/verify.ts';
import type { BackupVerification } from '../src/backups/verify-backup.ts';
import { type Database, openDatabase, openPool } from '../src/db/database.ts';
import { runAdminOn } from './support/admin.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { CONTENT_KEY_SECRET } from './support/initial-data.ts';
import { FOLDER, sampleManifest } from './support/manifest.ts';
import { migrateUpWithRows, readRows } from './support/migration-rows.ts';

const PASSPHRASE = 'correct horse battery staple';

let folder: string;
let place: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-backups-'));
  place = join(folder, 'backups');
});
afterEach(() => rm(folder, { recursive: true }));

/** An installation of which commands can make backups, or into which they restore. */
type Installation = { databaseUrl: string; objects: ObjectStore; secret: Uint8Array };

/** Runs a command that prints JSON. Throws what it reports if it fails, unless it is said to. */
async function run<T>(
  { databaseUrl, objects, secret }: Installation,
  args: readonly string[],
  { code = 0, env = {} }: { code?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<T> {
  const host: Partial<AdminHost> = {
    env: { BACKUP_PASSPHRASE: PASSPHRASE, ...env },
    objects: () => objects,
    secrets: async () => ({ current: secret, previous: [] }),
  };
  const ran = await runAdminOn(databaseUrl, [...args, '--json'], host);
  if (ran.code !== code || ran.output === '') throw new Error(`${ran.code}: ${ran.errors}`);
  return JSON.parse(ran.output);
}

const backUp = (installation: Installation, ...options: string[]) =>
  run<MadeBackup>(installation, ['backup', place, ...options]);
const verifyBackup = (installation: Installation, code = 0) =>
  run<BackupVerification>(installation, ['backup', 'verify', place], { code });
const verify = (installation: Installation, code = 0) =>
  run<Verification>(installation, ['verify'], { code });

/** A new installation, and a connection to its database. */
async function emptyInstallation(): Promise<
  Installation & { db: Database; objectsDir: string; drop: () => Promise<void> }
> {
  const database: TestDatabase = await createEmptyDatabase();
  const db = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
  const objectsDir = await mkdtemp(join(tmpdir(), 'framelane-restored-'));
  return {
    databaseUrl: database.url,
    objects: new FileObjectStore(objectsDir),
    secret: randomBytes(32),
    db,
    objectsDir,
    drop: async () => {
      await db.destroy();
      await database.drop();
      await rm(objectsDir, { recursive: true });
    },
  };
}

/** All objects and their contents. */
async function contents(store: ObjectStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const root of ['hls/', 'sources/']) {
    for await (const { key } of store.list(root)) {
      const { body } = await store.get(key);
      found[key] = Buffer.concat(await Array.fromAsync(body)).toString('base64');
    }
  }
  return found;
}

describe('with a control plane', () => {
  let plane: TestControlPlane;
  let installation: Installation;
  beforeAll(async () => {
    plane = await startControlPlane((config) => {
      installation = { databaseUrl: config.databaseUrl, secret: config.secrets.contentKey } as Installation;
      return config;
    });
    installation = { ...installation, objects: plane.objects };
  });
  afterAll(() => plane.stop());

  /** A manifest with small segments. */
  const manifest = () => {
    const sample = sampleManifest();
    const renditions = sample.renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.map((segment, index) => ({ ...segment, bytes: 10 + index })),
    }));
    return { ...sample, renditions };
  };

  async function uploaded(): Promise<string> {
    const { videoId, uploadToken } = await plane.ticket();
    const { sourceKey: key } = await plane.engine.upload(uploadToken);
    const source = await plane.db
      .selectFrom('artifacts')
      .select('bytes')
      .where('video_id', '=', videoId)
      .executeTakeFirstOrThrow();
    await plane.objects.put(key, randomBytes(source.bytes), 'video/mp4');
    return videoId;
  }

  /** A ready video with all objects. */
  async function readyVideo(): Promise<string> {
    const videoId = await uploaded();
    const made = manifest();
    const { attempt } = await plane.engine.claim(videoId);
    const output = { workspaceId: plane.workspaceId, videoId, attempt, folder: FOLDER };
    for (const { name, segments } of made.renditions)
      for (const [sequence, { bytes }] of segments.entries())
        await plane.objects.put(segmentKey(output, name, sequence, 'ts'), randomBytes(bytes), 'video/mp2t');
    for (const image of ['poster', 'storyboard'] as const) {
      const { bytes } = made[image] ?? { bytes: 1 };
      await plane.objects.put(imageKey(output, `${image}.jpg`), randomBytes(bytes), 'image/jpeg');
    }
    await plane.engine.complete(videoId, attempt, made);
    return videoId;
  }

  const deleteVideo = (videoId: string) =>
    fetch(`${plane.url}/v1/videos/${videoId}`, { method: 'DELETE', headers: plane.credentials });

  /** Restores the backup into a new installation, and expects the same objects and verified rows. */
  async function expectRestorable(...options: string[]): Promise<void> {
    const target = await emptyInstallation();
    try {
      await run<Restored>(target, ['restore', place, ...options]);
      expect((await verify(target)).findings).toEqual([]);
    } finally {
      await target.drop();
    }
  }

  test('verify names what is missing, of another size and orphaned, but no work in progress', async () => {
    const intact = await readyVideo();
    const damaged = await readyVideo();
    const waiting = await plane.ticket();
    await plane.objects.put(
      sourceKey(plane.workspaceId, waiting.videoId, newId('xfr')),
      Buffer.from('arriving'),
      'video/mp4',
    );
    expect(await verify(installation)).toMatchObject({ findings: [], inProgress: 1 });

    const prefix = `hls/${plane.workspaceId}/${damaged}/a1/${FOLDER}`;
    await plane.objects.delete([`${prefix}360p/1.ts`]);
    await plane.objects.put(`${prefix}480p/0.ts`, Buffer.from('torn'), 'video/mp2t');
    await plane.objects.put(
      `hls/${plane.workspaceId}/${newId('vid')}/a1/t0.1/360p/0.ts`,
      Buffer.alloc(3),
      '',
    );
    const late = `hls/${plane.workspaceId}/${intact}/a1/t0.9/360p/0.ts`;
    await plane.objects.put(late, Buffer.alloc(3), '');
    // All objects are young.
    const found = await verify(installation, 1);
    expect(found.findings).toEqual([
      { kind: 'missing', key: `${prefix}360p/1.ts`, bytes: 11 },
      { kind: 'other_size', key: `${prefix}480p/0.ts`, bytes: 10, storedBytes: 4 },
    ]);
    expect(found.inProgress).toBe(3);
  });

  test('backups share objects, and a restore has the same rows and objects', async () => {
    const kept = await readyVideo();
    const deleted = await readyVideo();
    const first = await backUp(installation);
    await deleteVideo(deleted);
    const added = await readyVideo();
    const second = await backUp(installation);
    const ofVideo = (id: string) =>
      Object.fromEntries(Object.entries(stored).filter(([key]) => key.includes(id)));
    const stored = await contents(plane.objects);
    expect(second.objects.copied).toBe(Object.keys(ofVideo(added)).length);
    expect(await verifyBackup(installation)).toMatchObject({ id: second.id, damaged: [] });

    const target = await emptyInstallation();
    try {
      const restored = await run<Restored>(target, ['restore', place]);
      expect(restored).toMatchObject({ id: second.id, unreadable: 0 });
      const copies = await contents(target.objects);
      expect(copies).toMatchObject({ ...ofVideo(kept), ...ofVideo(added) });
      expect(Object.keys(copies).filter((key) => key.includes(deleted))).toEqual([]);
      await expect(run(target, ['restore', place])).rejects.toThrow(/not empty: the table \w+ has rows/);
    } finally {
      await target.drop();
    }
    await expectRestorable('--id', first.id);
    const third = await backUp(installation, '--keep', '1');
    expect(third.removed.backups).toBe(2);
    expect(third.removed.objects).toBe(first.objects.count - second.objects.count + second.objects.copied);
    await expectRestorable();
  });

  test('objects that are purged between the snapshot and the copy are in no backup, and others of it are complete', async () => {
    await readyVideo();
    const purged = await readyVideo();
    let isDeleted = false;
    const racing = Object.assign(Object.create(plane.objects) as ObjectStore, {
      get: async (key: string) => {
        if (key.includes(purged) && !isDeleted) {
          isDeleted = true;
          await deleteVideo(purged);
          await plane.objects.deletePrefix(`hls/${plane.workspaceId}/${purged}/`);
          await plane.objects.deletePrefix(`sources/${plane.workspaceId}/${purged}/`);
        }
        return plane.objects.get(key);
      },
      list: plane.objects.list.bind(plane.objects),
    });
    const made = await backUp({ ...installation, objects: racing });
    expect(isDeleted).toBe(true);
    expect(made.objects.missing).toBe((await verify(installation, 1)).findings.length);
    await rm(place, { recursive: true });
  });
});
