import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** An event with its place among those of its workspace. */
export type PlacedEvent = { payload: string; position: string };

/** Up to `limit` events of a workspace after a position, in the order of their commits. */
export async function findEventsAfter(
  db: Database,
  workspaceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<PlacedEvent[]> {
  return db
    .selectFrom('webhook_events')
    .select(['payload', sql<string>`position::text`.as('position')])
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`position > ${after}::bigint`)
    .orderBy('webhook_events.position')
    .limit(limit)
    .execute();
}

/** The position of the last event of a workspace; 0 without one. */
export async function findLastPosition(db: Database, workspaceId: string): Promise<string> {
  const { last } = await db
    .selectFrom('webhook_events')
    .select(sql<string>`coalesce(max(position), 0)::text`.as('last'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return last;
}
