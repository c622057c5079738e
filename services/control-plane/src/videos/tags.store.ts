import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Environment } from '../db/schema.ts';
import { containing } from './video-columns.store.ts';

/** The most videos whose tags are counted, whatever the workspace has. */
const COUNTED_VIDEOS = 10_000;

/** The most tags of a response. */
const LISTED_TAGS = 100;

export type TagFilter = {
  environment?: Environment | undefined;
  /** A text that the tags contain. */
  q?: string | undefined;
};

/** The tags of the newest videos of a workspace, the most used first. */
export async function listTags(
  db: Database,
  workspaceId: string,
  { environment, q = '' }: TagFilter,
): Promise<{ tag: string; count: number }[]> {
  const newest = db
    .selectFrom('videos')
    .select('tags')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(COUNTED_VIDEOS)
    .select('environment');
  const { rows } = await sql<{ tag: string; count: number }>`
    select tag, count(*)::int as count
    from (${newest}) as newest, unnest(newest.tags) as tag
    where (${environment ?? null}::text is null or newest.environment = ${environment ?? null})
      and tag ilike ${containing(q)}
    group by tag order by count desc, tag collate "C" limit ${sql.lit(LISTED_TAGS)}`.execute(db);
  return rows;
}
