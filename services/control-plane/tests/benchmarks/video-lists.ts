import { createLogger } from '@framelane/service-kit/logger';
import { median } from '@framelane/test-kit/benchmark-table';
import { sql } from 'kysely';
import { type Database, openDatabase, openMigrationPool } from '../../src/db/database.ts';
import type { VideoFilter } from '../../src/videos/video-columns.store.ts';
import { countVideos, listVideos } from '../../src/videos/videos.store.ts';
import { createTestDatabase } from '../support/database.ts';

/**
 * Compares the cost of a page of videos, and of a count, in workspaces with a million and with a thousand videos: `pnpm bench:lists`. Prints
 * median milliseconds and their ratio.
 */

/** Of `rareOneIn` videos, one is of a rare kind: enough for full pages in both workspaces. */
const SMALL = { id: 'ws_small', videos: 1_000, rareOneIn: 10 };
const LARGE = { id: 'ws_large', videos: 1_000_000, rareOneIn: 100 };
const ROUNDS = 201;

type Page = { filter?: VideoFilter; order?: 'asc' | 'desc'; after?: boolean; isCount?: boolean };

/** Pages of 25 by filter; `after` starts in the middle of the list. */
const PAGES: [string, Page][] = [
  ['first', {}],
  ['middle', { after: true }],
  ['last', { order: 'asc' }],
  ['one status, frequent', { filter: { statuses: ['ready'] } }],
  ['one status, rare', { filter: { statuses: ['failed'] } }],
  ['two statuses, rare', { filter: { statuses: ['failed', 'uploading'] } }],
  ['test environment, rare', { filter: { environment: 'test' } }],
  ['status and environment', { filter: { statuses: ['failed'], environment: 'live' }, after: true }],
  ['created before', { filter: { createdBefore: new Date('2026-01-01T00:10:00Z') } }],
  ['tag, frequent', { filter: { tag: 'ready' } }],
  ['tag, rare', { filter: { tag: 'failed' } }],
  ['tag, once', { filter: { tag: 'number 777' } }],
  ['title, frequent', { filter: { titleContains: ['holiday'] } }],
  ['title, once', { filter: { titleContains: ['number', '777 '] } }],
  ['count', { isCount: true }],
  ['count, environment', { isCount: true, filter: { environment: 'live' } }],
  ['count, tag, once', { isCount: true, filter: { tag: 'number 777' } }],
  ['count, title, once', { isCount: true, filter: { titleContains: ['number', '777 '] } }],
];

/** One video a second, most of them ready and live. */
async function fill(db: Database, workspace: typeof SMALL): Promise<void> {
  await sql`insert into workspaces (id, name) values (${workspace.id}, 'Benchmark')`.execute(db);
  await sql`
    insert into videos (id, workspace_id, environment, status, title, filename, error_code, content_key, variants,
      target_duration, start_timestamp, tags, created_at)
    select 'vid_' || ${workspace.id} || lpad(n::text, 8, '0'), ${workspace.id},
      case when n % ${workspace.rareOneIn}::int = 1 then 'test' else 'live' end,
      status, 'Holiday number ' || n || ' at the sea', 'holiday.mp4',
      case status when 'failed' then 'not_a_video' end, case status when 'ready' then 'sealed' end,
      case status when 'ready' then '{360p}'::text[] end, case status when 'ready' then 6 end, case status when 'ready' then 0 end,
      array[status, 'number ' || n],
      '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => n)
    from generate_series(1, ${workspace.videos}::int) as n,
      lateral (select case n % ${workspace.rareOneIn}::int when 2 then 'failed' when 3 then 'uploading' else 'ready' end as status) as s
  `.execute(db);
}

async function listOnce(db: Database, { id, videos }: typeof SMALL, page: Page): Promise<number> {
  const middle = { createdAt: new Date(Date.UTC(2026, 0, 1) + videos * 500), id: 'vid_' };
  const { filter = {}, order = 'desc', after = false, isCount = false } = page;
  const startedAt = performance.now();
  if (isCount) await countVideos(db, id, filter);
  else await listVideos(db, id, filter, { order, limit: 26, after: after ? middle : undefined });
  return performance.now() - startedAt;
}

const database = await createTestDatabase();
const db = openDatabase(
  openMigrationPool(database.url, createLogger({ service: 'benchmark', level: 'silent' })),
);
try {
  await fill(db, SMALL);
  await fill(db, LARGE);
  await sql`vacuum analyze videos`.execute(db);
  process.stdout.write(`${'page'.padEnd(26)}${'1,000'.padStart(10)}${'1,000,000'.padStart(12)}   ratio\n`);
  for (const [name, page] of PAGES) {
    const times: [number[], number[]] = [[], []];
    // In turns, so that other programs slow both alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      times[0].push(await listOnce(db, SMALL, page));
      times[1].push(await listOnce(db, LARGE, page));
    }
    const [small, large] = [median(times[0]), median(times[1])];
    process.stdout.write(
      `${name.padEnd(26)}${small.toFixed(2).padStart(10)}${large.toFixed(2).padStart(12)}${(large / small).toFixed(2).padStart(8)}\n`,
    );
  }
} finally {
  await db.destroy();
  await database.drop();
}
