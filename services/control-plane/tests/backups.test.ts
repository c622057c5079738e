import { randomBytes } from 'node:crypto';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { newId } from '@framelane/contracts/ids';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { imageKey, segmentKey, sourceKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import type { AdminHost } from '../src/admin/host.ts';
import type { MadeBackup } from '../src/backups/backup.ts';
import type { ListedBackup } from '../src/backups/backup-folder.ts';
import type { Restored } from '../src/backups/restore.ts';
import type { Verification } from '../src/backups/verify.ts';
import type { BackupVerification } from '../src/backups/verify-backup.ts';
import { type Database, openDatabase, openPool } from '../src/db/database.ts';
import { runAdminOn } from './admin/run-admin-on.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { createEmptyDatabase, createTestDatabase } from './support/database.ts';
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
    dataDir: '/data',
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

/** A new installation, and a connection to its database, which has the schema by default. */
async function emptyInstallation(
  createDatabase = createTestDatabase,
): Promise<Installation & { db: Database; drop: () => Promise<void> }> {
  const database = await createDatabase();
  const db = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
  const objectsDir = await mkdtemp(join(tmpdir(), 'framelane-restored-'));
  return {
    databaseUrl: database.url,
    objects: new FileObjectStore(objectsDir),
    secret: randomBytes(32),
    db,
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

  async function deleteVideo(videoId: string): Promise<void> {
    const video = `${plane.url}/v1/videos/${videoId}`;
    const { status } = await fetch(video, { method: 'DELETE', headers: plane.credentials });
    expect(status).toBe(204);
  }

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
    const unknown = `hls/${plane.workspaceId}/${newId('vid')}/a1/t0.1/360p/0.ts`;
    const late = `hls/${plane.workspaceId}/${intact}/a1/t0.9/360p/0.ts`;
    for (const key of [unknown, late]) await plane.objects.put(key, Buffer.alloc(3), '');
    const differences = [
      { kind: 'missing', key: `${prefix}360p/1.ts`, bytes: 11 },
      { kind: 'other_size', key: `${prefix}480p/0.ts`, bytes: 10, storedBytes: 4 },
    ];
    // All objects are young.
    expect(await verify(installation, 1)).toMatchObject({ findings: differences, inProgress: 3 });
    const old = await run<Verification>(installation, ['verify', '--grace-minutes', '0'], { code: 1 });
    // The purge of the ready video has passes left.
    const orphaned = { kind: 'orphaned', key: unknown, storedBytes: 3 };
    expect(old.findings).toHaveLength(3);
    expect(old).toMatchObject({
      findings: expect.arrayContaining([...differences, orphaned]),
      inProgress: 2,
    });
    const { output } = await runAdminOn(installation.databaseUrl, ['verify'], {
      objects: () => plane.objects,
    });
    expect(output).toContain(`other size: ${prefix}480p/0.ts (4 instead of 10 bytes)\n`);
    expect(output).toContain(
      '1 are missing, 1 have another size, 0 are orphaned. 3 belong to work in progress.',
    );
    const made = await run<MadeBackup>(installation, ['backup', place], { code: 1 });
    expect(made.objects.missing).toBe(2);

    await deleteVideo(damaged);
    await plane.objects.delete([late, unknown]);
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

  test('objects that are purged between the snapshot and the copy are in no backup', async () => {
    await readyVideo();
    const purged = await readyVideo();
    let isDeleted = false;
    const racing = withMethods(plane.objects, {
      get: async (key) => {
        if (key.includes(purged) && !isDeleted) {
          isDeleted = true;
          await deleteVideo(purged);
          for (const root of ['hls', 'sources'])
            await plane.objects.deletePrefix(`${root}/${plane.workspaceId}/${purged}/`);
        }
        return plane.objects.get(key);
      },
    });
    const made = await backUp({ ...installation, objects: racing });
    expect([isDeleted, made.objects.missing]).toEqual([true, 0]);
    await expectRestorable();
  });

  test('a video whose tasks are in progress goes on after a restore', async () => {
    const videoId = await uploaded();
    await plane.engine.claim(videoId);
    await backUp(installation);
    const target = await emptyInstallation();
    try {
      await run<Restored>(target, ['restore', place]);
      const task = target.db.selectFrom('tasks').select(['tries', 'lease_expires_at', 'result']);
      const [running] = await task.where('video_id', '=', videoId).execute();
      // Its lease expires, and an engine tries it again.
      expect(running).toMatchObject({ tries: 1, result: null, lease_expires_at: expect.any(Date) });
    } finally {
      await target.drop();
      await deleteVideo(videoId);
    }
  });
});

describe('with rows in every table', () => {
  let source: Awaited<ReturnType<typeof emptyInstallation>>;
  /** A backup that each test gets a copy of. */
  let shared: string;
  let made: MadeBackup;
  beforeAll(async () => {
    source = {
      ...(await emptyInstallation(createEmptyDatabase)),
      secret: new Uint8Array(CONTENT_KEY_SECRET),
    };
    while ((await migrateUpWithRows(source.db)) !== undefined);
    // Values that JSON or other settings of the role could change.
    const metadata = '{"text":"\\u2028 \\" \\n \\\\","nothing":null,"number":1e400,"small":0.1}';
    await source.db
      .updateTable('videos')
      .set({ title: 'A\tB\n"\\\u2028\u{1F600}', metadata, duration: 0.1 + 0.2 })
      .where('title', '=', 'holiday')
      .execute();
    // Something is stored for each object, in the size that the rows say.
    for (let isComplete = false; !isComplete; ) isComplete = await storeMissing();
    shared = await mkdtemp(join(tmpdir(), 'framelane-shared-backup-'));
    made = await run<MadeBackup>(source, ['backup', shared]);
  });
  beforeEach(() => cp(shared, place, { recursive: true }));
  afterAll(async () => {
    await source.drop();
    await rm(shared, { recursive: true });
  });

  async function storeMissing(): Promise<boolean> {
    const { code, output } = await runAdminOn(source.databaseUrl, ['verify', '--json'], {
      objects: () => source.objects,
    });
    for (const { key, bytes } of JSON.parse(output).findings as { key: string; bytes: number }[]) {
      await source.objects.put(key, Buffer.alloc(bytes), '');
    }
    return code === 0;
  }

  /** The rows of a restored database that differ from those of the backup, by table. */
  async function differences(db: Database, ...tables: string[]): Promise<string[]> {
    const [expected, found] = [await readRows(source.db), await readRows(db)];
    return Object.keys(expected).filter(
      (table) => !tables.includes(table) && JSON.stringify(expected[table]) !== JSON.stringify(found[table]),
    );
  }

  const LEFT_OUT = [
    ...['backup_state', 'console_codes', 'console_sessions', 'engines', 'maintenance_steps'],
    ...['request_log', 'request_log_20261122', 'request_log_sizes'],
    ...['view_changes', 'view_salts', 'view_sessions', 'view_sessions_20261126'],
  ];

  test('the rows of a restored database are those of the backup, to the last character', async () => {
    const target = { ...(await emptyInstallation(createEmptyDatabase)), secret: source.secret };
    try {
      const restored = await run<Restored>(target, ['restore', place, '--keep-webhooks']);
      expect(restored).toMatchObject({ disabledWebhooks: 0, unreadable: 0 });
      expect(await differences(target.db, ...LEFT_OUT)).toEqual([]);
      // Maintenance creates the partitions.
      const keys = `select conname from pg_constraint
        where conrelid not in (select inhrelid from pg_inherits) order by 1`;
      expect(await rowsOf(target.db, keys)).toEqual(await rowsOf(source.db, keys));
    } finally {
      await target.drop();
    }
  });

  test('a restored installation sends nothing and signs nobody in, and seals with its own secret', async () => {
    const target = await emptyInstallation();
    try {
      const restored = await run<Restored>(target, ['restore', place]);
      expect(restored.disabledWebhooks).toBeGreaterThan(0);
      const sealed = ['videos', 'imports'];
      const stopped = ['webhook_endpoints', 'webhook_deliveries'];
      expect(await differences(target.db, ...LEFT_OUT, ...sealed, ...stopped)).toEqual([]);
      expect(await rowsOf(target.db, 'select from webhook_endpoints where enabled')).toEqual([]);
      expect(
        await rowsOf(target.db, 'select from webhook_deliveries where next_attempt_at is not null'),
      ).toEqual([]);
      for (const table of [
        'console_codes',
        'console_sessions',
        'engines',
        'backup_state',
        'view_salts',
        'view_sessions',
      ] as const)
        expect([table, await rowsOf(target.db, `select from ${table}`)]).toEqual([table, []]);
      const keys = `select distinct split_part(content_key, '.', 1) as header from videos where content_key is not null`;
      expect(await rowsOf(target.db, keys)).toHaveLength(1);
      expect(await rowsOf(target.db, keys)).not.toEqual(await rowsOf(source.db, keys));
    } finally {
      await target.drop();
    }
  });

  /** Makes every write to a store of files fail after some, as if the process was killed. Resolves with whether a command failed. */
  async function interrupted(writes: number, command: () => Promise<unknown>): Promise<boolean> {
    const { put, putStream, delete: remove } = FileObjectStore.prototype;
    let left = writes;
    const kill = () => {
      left -= 1;
      if (left < 0)
        throw Object.assign(new Error('ENOSPC: no space left on device'), {
          code: 'ENOSPC',
          syscall: 'write',
        });
    };
    jest.spyOn(FileObjectStore.prototype, 'putStream').mockImplementation(async function (
      this: FileObjectStore,
      ...args
    ) {
      if (left <= 0) args[1].destroy();
      kill();
      return putStream.apply(this, args);
    });
    jest.spyOn(FileObjectStore.prototype, 'put').mockImplementation(put);
    jest.spyOn(FileObjectStore.prototype, 'delete').mockImplementation(async function (
      this: FileObjectStore,
      ...args
    ) {
      kill();
      return remove.apply(this, args);
    });
    try {
      await command();
      return false;
    } catch (error) {
      expect(String(error)).toContain('no space left');
      return true;
    } finally {
      jest.restoreAllMocks();
    }
  }

  test('a backup that is interrupted at any write goes on', async () => {
    let isInterrupted = true;
    for (let writes = 0; isInterrupted; writes += 13) {
      await rm(place, { recursive: true, force: true });
      isInterrupted = await interrupted(writes, () => backUp(source));
      const { id } = await backUp(source);
      expect(await verifyBackup(source)).toMatchObject({ id, damaged: [] });
      // What was interrupted is removed.
      const backups = await run<ListedBackup[]>(source, ['backup', 'list', place]);
      expect(backups.map(({ state }) => state)).toEqual(Array(isInterrupted ? 1 : 2).fill('complete'));
      await rm(place, { recursive: true });
    }
  });

  test('a restore that is interrupted at any write goes on', async () => {
    const target = await emptyInstallation();
    try {
      let isInterrupted = true;
      for (let writes = 0; isInterrupted; writes += 13) {
        isInterrupted = await interrupted(writes, () => run(target, ['restore', place]));
      }
      expect((await verify(target)).findings).toEqual([]);
      expect(
        await differences(
          target.db,
          ...LEFT_OUT,
          'videos',
          'imports',
          'webhook_endpoints',
          'webhook_deliveries',
        ),
      ).toEqual([]);
    } finally {
      await target.drop();
    }
  });

  /** The files of the backup whose path contains this text. */
  async function filesOf(text: string): Promise<string[]> {
    const files = await readdir(place, { recursive: true });
    return files.filter((file) => file.includes(text)).map((file) => join(place, file));
  }

  test.each([
    ['an object', '/original', (file: string) => truncate(file, 100)],
    ['an object of the same size', '/original', (file: string) => writeFile(file, randomBytes(1_000_000))],
    ['the rows of a table', 'tables/videos.gz', (file: string) => truncate(file, 100)],
    ['rows that can be read', 'tables/videos.gz', (file: string) => writeFile(file, gzipSync('["a"]\n'))],
    ['the secrets', 'secrets.json', (file: string) => truncate(file, 100)],
  ])('%s that is damaged in the backup is found', async (_, text, damage) => {
    const [file = ''] = await filesOf(text);
    await damage(file);
    const { damaged } = await verifyBackup(source, 1);
    expect(damaged.map((key) => join(place, key))).toEqual([file]);
    const target = await emptyInstallation();
    try {
      await expect(run(target, ['restore', place])).rejects.toThrow(/damaged/);
      await expect(rowsOf(target.db, 'select from videos')).resolves.toEqual([]);
      if (text !== '/original') {
        // Nothing is copied before the rows are read.
        expect(await contents(target.objects)).toEqual({});
        return;
      }
      const restored = await run<Restored>(target, ['restore', place, '--skip-damaged']);
      expect(restored.objects.damaged).toHaveLength(1);
      const [finding, ...others] = (await verify(target, 1)).findings;
      expect([finding?.kind, others]).toEqual(['missing', []]);
    } finally {
      await target.drop();
    }
  });

  test('a copy that is torn is copied again, and one with a damaged list, too', async () => {
    const [file = ''] = await filesOf('/original');
    await truncate(file, 100);
    expect((await backUp(source)).objects.copied).toBe(1);
    for (const list of await filesOf('objects/000000.gz')) await truncate(list, 20);
    expect((await backUp(source)).objects.copied).toBe(made.objects.count);
    expect(await verifyBackup(source)).toMatchObject({ damaged: [] });
  });

  test.each<[string, (place: string) => string[], string, RegExp]>([
    ['without a passphrase', (place) => ['backup', place], '', /Set BACKUP_PASSPHRASE/],
    [
      'with an empty file for the passphrase',
      (place) => ['backup', place, '--passphrase-file', '/dev/null'],
      '',
      /The file \/dev\/null has no passphrase/,
    ],
    [
      'to remove backups where none are',
      (place) => ['backup', 'prune', `${place}/none`, '--keep', '1'],
      '',
      /There is no backup in this place/,
    ],
    ['with a short passphrase', (place) => ['backup', place], 'short\n', /at least 12 characters/],
    ['with another passphrase', (place) => ['restore', place], 'another passphrase', /does not open/],
    ['of a bucket with an odd prefix', () => ['backup', 's3://bucket/../a'], PASSPHRASE, /has "\.\."/],
    ['in the data directory', () => ['backup', '/data/objects'], PASSPHRASE, /is in the data directory/],
    ['without a number', (place) => ['backup', 'prune', place], '', /--keep <count>' not specified/],
    [
      'to verify with another passphrase',
      (place) => ['backup', 'verify', place],
      'another passphrase',
      /does not open/,
    ],
    ['of an unknown backup', (place) => ['restore', place, '--id', 'x'], PASSPHRASE, /no complete backup x/],
  ])('a command %s says what to do', async (_, args, passphrase, message) => {
    const env = { BACKUP_PASSPHRASE: passphrase };
    await expect(run(source, args(place), { env })).rejects.toThrow(message);
  });

  test('a place without the earlier backups is named, because its disk may not be mounted', async () => {
    const backup = (name: string) =>
      runAdminOn(source.databaseUrl, ['backup', name], {
        env: { BACKUP_PASSPHRASE: PASSPHRASE },
        secrets: async () => ({ current: source.secret, previous: [] }),
        objects: () => source.objects,
      });
    expect((await backup(`${place}-other`)).errors).toContain('none of them is in this place');
    expect((await backup(place)).errors).not.toContain('none of them is in this place');
  });

  test.each([
    ['s3://own/prefix', 'http://storage:9000', ''],
    ['s3://own', 'http://storage:9000', 'http://STORAGE:9000/'],
    ['s3://own', '', 'https://s3.eu-west-1.amazonaws.com'],
  ])('a backup to the own bucket is refused: %s, %s, %s', async (address, endpoint, backupEndpoint) => {
    const env = {
      S3_BUCKET: 'own',
      S3_ENDPOINT: endpoint,
      BACKUP_S3_ENDPOINT: backupEndpoint,
      S3_ACCESS_KEY_ID: 'any',
      S3_SECRET_ACCESS_KEY: 'any',
    };
    await expect(run(source, ['backup', address], { env })).rejects.toThrow(
      /is in the bucket of the installation/,
    );
  });

  test('the data directory is recognised behind a symbolic link, and a name that begins with dots is in it', async () => {
    await symlink(folder, join(folder, 'alias'));
    for (const inside of ['alias/data/new', 'data', 'data/..backups']) {
      const args = ['backup', join(folder, inside)];
      const { code, errors } = await runAdminOn(source.databaseUrl, args, {
        env: { BACKUP_PASSPHRASE: PASSPHRASE },
        dataDir: join(folder, 'data'),
        secrets: async () => ({ current: source.secret, previous: [] }),
      });
      expect([code, errors]).toEqual([1, expect.stringContaining('is in the data directory')]);
    }
  });

  test('the passphrase can come from the standard input', async () => {
    const ran = await runAdminOn(source.databaseUrl, ['backup', 'verify', place, '--passphrase-file', '-'], {
      readInput: async () => `${PASSPHRASE}\n`,
    });
    expect([ran.code, ran.output]).toEqual([0, expect.stringContaining('The passphrase opens its secrets.')]);
    const without = await runAdminOn(source.databaseUrl, ['backup', 'verify', place]);
    expect([without.code, without.output]).toEqual([0, expect.stringContaining('were not opened')]);
  });

  test('only the latest backups are kept, also without making one, but never those of another installation', async () => {
    const second = await backUp(source);
    const prune = ['backup', 'prune', place, '--keep', '1'];
    expect(await run(source, prune)).toEqual({ backups: 1, objects: 0, unfinished: 0 });
    const [kept, ...others] = await run<ListedBackup[]>(source, ['backup', 'list', place]);
    expect([kept, others]).toEqual([
      {
        id: second.id,
        state: 'complete',
        snapshotAt: second.snapshotAt,
        objects: second.objects.count,
        bytes: second.objects.bytes,
      },
      [],
    ]);
    const target = await emptyInstallation();
    try {
      await expect(run(target, prune)).rejects.toThrow(/This installation has made no backup/);
    } finally {
      await target.drop();
    }
  });

  test('a backup that was made while the clock was ahead is not taken for the latest', async () => {
    const future = `20991231T235959999Z-${made.id.split('-')[1]}`;
    await rename(join(place, 'backups', made.id), join(place, 'backups', future));
    const next = await backUp(source, '--keep', '1');
    expect(next).toMatchObject({ removed: { backups: 1 }, objects: { copied: 0 } });
    expect(await run(source, ['backup', 'list', place])).toMatchObject([{ id: next.id, state: 'complete' }]);
  });

  test('a backup of a newer format is named and never removed, nor is a copy of an object meanwhile', async () => {
    const file = join(place, 'backups', made.id, 'manifest.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"version": 1', '"version": 2'));
    const listed = await runAdminOn(source.databaseUrl, ['backup', 'list', place]);
    expect(listed.output).toMatch(`${made.id}  made by a newer Framelane`);
    const newer = new RegExp(`${made.id} was made by a newer Framelane.*Use that version`);
    await expect(verifyBackup(source)).rejects.toThrow(newer);
    await expect(run(source, ['restore', place])).rejects.toThrow(newer);

    const [copy = ''] = await filesOf('/original');
    await rename(copy, join(dirname(copy), 'named-by-the-newer'));
    const { objects, removed } = await backUp(source, '--keep', '1');
    expect([objects.copied, removed]).toEqual([objects.count, { backups: 0, objects: 0, unfinished: 0 }]);
    const { errors } = await runAdminOn(source.databaseUrl, ['backup', 'prune', place, '--keep', '1']);
    expect(errors).toContain(`A newer Framelane has made the backup ${made.id}.`);
    expect(await filesOf('named-by-the-newer')).toHaveLength(1);
    expect(await run(source, ['backup', 'list', place])).toMatchObject([
      { state: 'complete' },
      { id: made.id, state: 'newer_format', objects: null },
    ]);
  });

  test('a backup whose manifest is damaged counts for nothing, and a list that lacks lines lets no copy be removed', async () => {
    const second = await backUp(source);
    const timeline = made.id.split('-')[1] ?? '';
    const unnamed = join(place, 'objects', timeline, 'hls/a/unnamed');
    await mkdir(dirname(unnamed), { recursive: true });
    await writeFile(unnamed, 'x');
    const prune = () => runAdminOn(source.databaseUrl, ['backup', 'prune', place, '--keep', '1']);
    const states = async () =>
      (await run<ListedBackup[]>(source, ['backup', 'list', place])).map(({ state }) => state);

    const manifest = join(place, 'backups', second.id, 'manifest.json');
    await truncate(manifest, 100);
    expect((await prune()).errors).toContain(
      `The manifest of the backup ${second.id} is damaged. Remove the folder`,
    );
    expect(await states()).toEqual(['damaged', 'complete']);
    await expect(run(source, ['restore', place])).rejects.toThrow(
      /manifest\.json is damaged\. Choose another/,
    );
    await rm(dirname(manifest), { recursive: true });

    const [list = ''] = await filesOf('objects/000000.gz');
    const whole = await readFile(list);
    await writeFile(list, gzipSync(gunzipSync(whole).subarray(0, -1).toString().replace(/.*$/, '')));
    expect((await prune()).errors).toContain(
      `000000.gz is damaged. Remove the folder of the backup ${made.id}.`,
    );
    expect(await readFile(unnamed, 'utf8')).toBe('x');

    await writeFile(list, whole);
    expect(await prune()).toMatchObject({
      code: 0,
      errors: '',
      output: 'Removed 0 backups and 1 objects.\n',
    });
    expect(await states()).toEqual(['complete']);
  });

  test('files that killed backups have left are removed after a day', async () => {
    await mkdir(join(place, '.tmp'), { recursive: true });
    const [stale, fresh] = [join(place, '.tmp/objects%2Fa~1'), join(place, '.tmp/objects%2Fa~2')];
    for (const file of [stale, fresh]) await writeFile(file, 'torn');
    const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(stale, old, old);
    expect((await backUp(source)).removed.unfinished).toBe(1);
    expect(await readdir(join(place, '.tmp'))).toEqual([basename(fresh)]);
  });

  test('no command follows a symbolic link in the place', async () => {
    const outside = join(folder, 'outside');
    const [copy = ''] = await filesOf('/original');
    await rename(copy, outside);
    await symlink(outside, copy);
    await mkdir(join(folder, 'elsewhere'));
    const target = await emptyInstallation();
    try {
      await expect(run(target, ['restore', place])).rejects.toThrow(`${copy} is a symbolic link.`);
      await expect(backUp(source)).rejects.toThrow(`${copy} is a symbolic link.`);
      await rm(copy);
      await rename(outside, copy);
      await rm(join(place, '.tmp'), { recursive: true });
      await symlink(join(folder, 'elsewhere'), join(place, '.tmp'));
      await expect(backUp(source)).rejects.toThrow(`${join(place, '.tmp')} is a symbolic link.`);
      expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
    } finally {
      await target.drop();
    }
  });

  /** Ends the session that holds the lock, as a restart of the database does. */
  async function loseLock(): Promise<void> {
    const held = sql`select pid from pg_locks where locktype = 'advisory' and objid = 5208114 and granted`;
    await sql`select pg_terminate_backend(pid) from (${held}) holders`.execute(source.db);
    await until(async () => (await held.execute(source.db)).rows.length === 0);
  }

  test('a backup whose lock is lost is not completed, and a failure is reported as it is', async () => {
    await rm(place, { recursive: true });
    const losing = (fail: () => void) =>
      backUp({
        ...source,
        objects: withMethods(source.objects, {
          get: async (key) => {
            await loseLock();
            fail();
            return source.objects.get(key);
          },
        }),
      });
    await expect(
      losing(() => {
        throw Object.assign(new Error('ENOSPC: no space left on device'), {
          code: 'ENOSPC',
          syscall: 'write',
        });
      }),
    ).rejects.toThrow('no space left on device');
    await expect(losing(() => {})).rejects.toThrow(/connection to the database was lost meanwhile/);
    const backups = await run<ListedBackup[]>(source, ['backup', 'list', place]);
    expect(backups.map(({ state }) => state)).toEqual(['interrupted', 'interrupted']);
    expect((await backUp(source)).objects.missing).toBe(0);
  });

  test('rows that are stored while objects are restored stop the restore', async () => {
    const target = await emptyInstallation();
    const putStream = target.objects.putStream.bind(target.objects);
    target.objects.putStream = async (...args) => {
      const row = sql`insert into workspaces (id, name) values ('ws_other', 'Other') on conflict do nothing`;
      await row.execute(target.db);
      return putStream(...args);
    };
    try {
      const restore = run(target, ['restore', place]);
      await expect(restore).rejects.toThrow(/not empty: the table workspaces has rows/);
      expect(await rowsOf(target.db, 'select id from workspaces')).toEqual([{ id: 'ws_other' }]);
    } finally {
      await target.drop();
    }
  });

  test('a restore keeps other objects if it is told to, and replaces other bytes of the same size', async () => {
    const target = await emptyInstallation();
    try {
      const expected = await contents(source.objects);
      const [key = ''] = Object.keys(expected);
      const { bytes = 0 } = (await source.objects.head(key)) ?? {};
      await target.objects.put(key, randomBytes(bytes), '');
      const other = 'hls/ws_other/vid_other/a1/t0.1/poster.jpg';
      await target.objects.put(other, Buffer.from('x'), '');
      await run<Restored>(target, ['restore', place, '--keep-other-objects']);
      const { [other]: kept, ...restored } = await contents(target.objects);
      expect(kept).toBeDefined();
      expect(restored).toEqual(expected);
      const orphaned = await run<Verification>(target, ['verify', '--grace-minutes', '0'], { code: 1 });
      expect(orphaned.findings).toEqual([{ kind: 'orphaned', key: other, storedBytes: 1 }]);
    } finally {
      await target.drop();
    }
  });

  test('a restore refuses a store with other objects, and a place without a backup', async () => {
    const target = await emptyInstallation();
    try {
      await expect(run(target, ['restore', folder])).rejects.toThrow(/no complete backup in this place/);
      await expect(run(target, ['restore', 'ftp://host/folder'])).rejects.toThrow(/no directory and no s3:/);
      await target.objects.put('hls/ws_other/vid_other/a1/t0.1/poster.jpg', Buffer.from('x'), '');
      await expect(run(target, ['restore', place])).rejects.toThrow(/not empty: it has hls\/ws_other/);
    } finally {
      await target.drop();
    }
  });

  test('only one backup of an installation is made at a time', async () => {
    const connection = await source.db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(5208114)`.execute(other);
      await expect(backUp(source)).rejects.toThrow(/Another backup of this installation/);
      await sql`select pg_advisory_unlock(5208114)`.execute(other);
      return true;
    });
    expect(connection).toBe(true);
  });

  test('a restored installation shares no copies with the one of the backup', async () => {
    const target = await emptyInstallation();
    try {
      await run<Restored>(target, ['restore', place]);
      const { objects, removed } = await backUp(target, '--keep', '1');
      expect([objects.copied, removed.backups]).toEqual([objects.count, 0]);
      expect(await run<unknown[]>(source, ['backup', 'list', place])).toHaveLength(2);
    } finally {
      await target.drop();
    }
  });

  test('the secrets in a backup are encrypted, and the files are private', async () => {
    await rm(place, { recursive: true });
    await backUp(source);
    const [file = ''] = await filesOf('secrets.json');
    expect(await readFile(file, 'utf8')).not.toContain(Buffer.from(source.secret).toString('base64'));
    expect((await stat(place)).mode & 0o077).toBe(0);
  });

  test('files are restored to a bucket from a backup in a bucket, and back to files from a backup in files', async () => {
    const [backups, bucket] = await Promise.all([FakeS3.start(), FakeS3.start()]);
    const objects = new S3ObjectStore({
      endpoint: bucket.endpoint,
      region: 'us-east-1',
      bucket: bucket.bucket,
      accessKeyId: 'any',
      secretAccessKey: 'any',
      forcePathStyle: true,
    });
    const separate = { ...(await emptyInstallation()), objects };
    const target = await emptyInstallation();
    try {
      const env = {
        S3_ENDPOINT: 'http://elsewhere.test',
        BACKUP_S3_ENDPOINT: backups.endpoint,
        S3_ACCESS_KEY_ID: 'any',
        S3_SECRET_ACCESS_KEY: 'any',
      };
      const address = `s3://${backups.bucket}/of/framelane`;
      await run(source, ['backup', address], { env });
      expect([...backups.objects.keys()].every((key) => key.startsWith('of/framelane/'))).toBe(true);
      await run(separate, ['restore', address], { env });
      expect((await verify(separate)).findings).toEqual([]);

      await rm(place, { recursive: true });
      await backUp(separate);
      await run(target, ['restore', place]);
      expect(await contents(target.objects)).toEqual(await contents(source.objects));
    } finally {
      await target.drop();
      await separate.drop();
      objects.close();
      await Promise.all([backups.stop(), bucket.stop()]);
    }
  });
});

/** The store, with other methods. */
function withMethods(store: ObjectStore, methods: Partial<ObjectStore>): ObjectStore {
  return { ...methods, list: store.list.bind(store), head: store.head.bind(store) } as ObjectStore;
}

async function rowsOf(db: Database, query: string): Promise<unknown[]> {
  return (await sql.raw(query).execute(db)).rows;
}
