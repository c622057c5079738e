import { beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../src/db/database.ts';
import { fewWithTag } from '../src/videos/videos.store.ts';
import { insertWorkspace } from './support/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

type Step = {
  'Index Name'?: string;
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Step[];
};
type Explained = { 'QUERY PLAN': [{ Plan: Step }] };

const OWN_VIDEOS = 5_000;

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeAll(async () => {
  await fill(workspaceId, OWN_VIDEOS, { some: 3, all: 3 });
  await fill(await insertWorkspace(db), 20_000, { some: 1_000, all: 20_000 });
  await sql`vacuum analyze videos`.execute(db);
});

/** The first videos have the tags `some` and `all`. */
async function fill(workspace: string, videos: number, tagged: { some: number; all: number }): Promise<void> {
  await sql`
    insert into videos (id, workspace_id, environment, status, title, filename, tags, created_at)
    select 'vid_' || ${workspace} || n, ${workspace}, 'live', 'uploading', 'Any', 'any.mp4',
      array_remove(array[
        case when n <= ${tagged.some}::int then 'some' end, case when n <= ${tagged.all}::int then 'all' end
      ], null), now() + make_interval(secs => n)
    from generate_series(1, ${videos}::int) as n`.execute(db);
}

/** How PostgreSQL reads the videos of the workspace with a tag: the indexes, and the most rows that one step reads. */
async function readingOf(tag: string): Promise<{ indexes: string[]; rows: number }> {
  const [explained] = await fewWithTag(db, workspaceId, tag).explain<Explained>('json', sql`analyze`);
  const steps = explained === undefined ? [] : withInner(explained['QUERY PLAN'][0].Plan);
  return {
    indexes: steps.flatMap((step) => step['Index Name'] ?? []),
    rows: Math.max(
      ...steps.map(
        (step) =>
          step['Actual Rows'] +
          (step['Rows Removed by Filter'] ?? 0) +
          (step['Rows Removed by Index Recheck'] ?? 0),
      ),
    ),
  };
}

function withInner(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(withInner)];
}

test('for a tag that another workspace uses more often, PostgreSQL reads only the tagged videos of this workspace', async () => {
  expect(await readingOf('some')).toEqual({ indexes: ['videos_by_tag'], rows: 3 });
});

test('for a tag of all videos of another workspace, PostgreSQL reads no video of that workspace', async () => {
  expect((await readingOf('all')).rows).toBeLessThanOrEqual(OWN_VIDEOS);
});
