import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase, openPool } from '../src/db/database.ts';
import { migrateToLatest, migrator } from '../src/db/migrations.ts';
import { createEmptyDatabase } from './support/database.ts';
import { CONTENT_KEY_SECRET, readCredentials } from './support/initial-data.ts';
import { migrateUpWithRows } from './support/migration-rows.ts';
import { breakingChanges, readSchema, type Schema } from './support/schema-changes.ts';
import { SeparateControlPlane } from './support/separate-control-plane.ts';

/** The statements of the previous version, one in each line, as JSON. `pnpm statements:dump` writes them. */
const STATEMENTS = join(import.meta.dirname, 'fixtures/statements.jsonl');

/** The breaking changes of each migration that contracts the schema. The previous version must no longer use what it removes. */
const CONTRACTIONS: Record<string, string[]> = {};

let db: Database;
let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
beforeEach(async () => {
  database = await createEmptyDatabase();
  db = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

/** Runs the statements of a migration. Resolves with the changes that the previous version of the code cannot work with. */
async function breakingChangesOf(...statements: string[]): Promise<string[]> {
  const before = await readSchema(db);
  for (const statement of statements) await sql.raw(statement).execute(db);
  return breakingChanges(before, await readSchema(db));
}

test('the API serves the data of every earlier schema after all migrations', async () => {
  while ((await migrateUpWithRows(db)) !== undefined);
  const headers = await readCredentials();

  const plane = await SeparateControlPlane.start(database.url, {
    CONTENT_KEY_SECRET: CONTENT_KEY_SECRET.toString('base64'),
  });
  try {
    const get = async (path: string) => {
      const response = await fetch(`${plane.url}/v1${path}`, { headers });
      expect([path, response.status]).toEqual([path, 200]);
      return response;
    };
    const { data: videos } = (await (await get('/videos?status=ready')).json()) as { data: { id: string }[] };
    expect(videos).toEqual([expect.objectContaining({ title: 'holiday', duration: 20, progress: 100 })]);
    const hls = `/hls/${headers['x-svc-workspace']}/${videos[0]?.id}`;
    const master = await (await get(`${hls}/master.m3u8`)).text();
    for (const rendition of ['480p', 'audio2', 'surround', 'iframes']) expect(master).toContain(rendition);
    expect(await (await get(`/videos/${videos[0]?.id}/captions/en`)).text()).toContain('Hello');
    expect(await (await get(`${hls}/chapters.vtt`)).text()).toContain('Opening');
    expect((await (await get(`${hls}/poster.jpg`)).arrayBuffer()).byteLength).toBe(40);
    expect((await (await get(`${hls}/key`)).arrayBuffer()).byteLength).toBe(16);
    const webhooks = (await (await get('/webhooks')).json()) as { data: { id: string }[] };
    expect(webhooks.data).toEqual([expect.objectContaining({ description: 'Initial' })]);
    const deliveries = await (await get(`/webhooks/${webhooks.data[0]?.id}/deliveries`)).json();
    expect(deliveries).toMatchObject({ data: expect.any(Array) });
    expect(await (await get('/api-keys')).json()).toMatchObject({ data: [{ status: 'active' }] });
    const { data: others } = (await (await get('/videos?status=failed')).json()) as typeof webhooks;
    expect(others[0]).toMatchObject({ title: 'failed' });
    const timeline = await (await get(`/videos/${others[0]?.id}/timeline`)).json();
    expect(timeline).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ type: 'failed' })]),
    });
    await get('/auth/usage');
  } finally {
    await plane.kill();
  }
});

describe('the code of the previous version', () => {
  beforeEach(async () => {
    const { error } = await migrator(db).migrateUp();
    expect(error).toBeUndefined();
  });

  test('works with every migration, except for the listed contractions', async () => {
    for (;;) {
      const before: Schema = await readSchema(db);
      const { results = [], error } = await migrator(db).migrateUp();
      expect(error).toBeUndefined();
      const [migration] = results;
      if (migration === undefined) break;
      const breaking = breakingChanges(before, await readSchema(db));
      expect([migration.migrationName, breaking]).toEqual([
        migration.migrationName,
        CONTRACTIONS[migration.migrationName] ?? [],
      ]);
    }
  });

  test('works with a migration that only expands the schema', async () => {
    expect(
      await breakingChangesOf(
        'alter table videos add column note text',
        'alter table videos add column rating int not null default 0',
        'alter table workspaces alter column name drop not null',
        'create table notes (id text primary key, video_id text not null references videos)',
        'create index videos_by_rating on videos (rating)',
        'alter table videos drop constraint ready_is_complete',
      ),
    ).toEqual([]);
  });

  test.each([
    ['drop table idempotency_keys', 'idempotency_keys.key_hash is gone'],
    ['alter table usage_daily rename to usage_by_day', 'usage_daily.day is gone'],
    ['alter table videos drop column passthrough', 'videos.passthrough is gone'],
    ['alter table videos rename column title to name', 'videos.title is gone'],
    [
      'alter table videos add column note text not null',
      'videos.note is new, required and without a default',
    ],
    ['alter table videos alter column size set not null', 'videos.size must not be null any more'],
    ['alter table videos alter column tags drop default', 'videos.tags has lost its default'],
    ['alter table videos alter column width type text', 'videos.width was integer and is text'],
    [
      'alter table videos add constraint short check (length(title) < 9)',
      'videos.short is a new rule: CHECK ((length(title) < 9))',
    ],
    [
      'create unique index one_title on videos (title)',
      'videos.one_title is a new rule: CREATE UNIQUE INDEX one_title ON public.videos USING btree (title)',
    ],
    [
      'alter table api_keys drop constraint api_keys_secret_hash_key',
      'api_keys.api_keys_secret_hash_key is gone',
    ],
  ])('breaks with: %s', async (statement, change) => {
    expect(await breakingChangesOf(statement)).toContain(change);
  });
});

/** Prepares statements. Resolves with those that the schema refuses, each after the reason. */
async function refused(statements: readonly string[]): Promise<string[]> {
  return db.connection().execute(async (connection) => {
    const reasons: string[] = [];
    for (const statement of statements) {
      try {
        await sql.raw(`prepare recorded as ${statement}`).execute(connection);
        await sql`deallocate recorded`.execute(connection);
      } catch (error) {
        reasons.push(`${(error as Error).message}: ${statement}`);
      }
    }
    return reasons;
  });
}

describe('the statements of the previous version', () => {
  beforeEach(() => migrateToLatest(db));

  test('can be prepared with the newest schema', async () => {
    const lines = (await readFile(STATEMENTS, 'utf8')).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(300);
    expect(await refused(lines.map((line): string => JSON.parse(line)))).toEqual([]);
  });

  test.each([
    ['alter table videos drop column title', 'select title from videos', 'column "title" does not exist'],
    ['drop table usage_daily', 'select 1 from usage_daily', 'relation "usage_daily" does not exist'],
    [
      'alter table videos add column number int',
      'select number from tasks join videos on id = video_id',
      'column reference "number" is ambiguous',
    ],
  ])('can be refused after: %s', async (change, statement, reason) => {
    expect(await refused([statement])).toEqual([]);
    await sql.raw(change).execute(db);
    expect(await refused([statement])).toEqual([`${reason}: ${statement}`]);
  });
});
