import { sql } from 'kysely';
import type { Backlog } from '../db/backlog.ts';
import type { Database } from '../db/database.ts';

/** Due and not taken yet; taken by a worker; given up after its last try. */
export type JobState = 'waiting' | 'running' | 'exhausted';

/**
 * The jobs of each task by state; those for later are none of them. Reads every job there is: done ones are deleted, so
 * there are few.
 */
export async function findJobBacklog(db: Database): Promise<(Backlog & { task: string; state: JobState })[]> {
  const { rows } = await sql<Backlog & { task: string; state: JobState }>`
    select task_identifier as task, state, count(*) as count,
      greatest(extract(epoch from now() - min(since)), 0)::float8 as "oldestSeconds"
    from graphile_worker.jobs, lateral (
      select case
        when locked_at is not null then 'running'
        when attempts >= max_attempts then 'exhausted'
        else 'waiting'
      end as state, coalesce(locked_at, run_at) as since
    ) as now_is
    where locked_at is not null or run_at <= now() or attempts >= max_attempts
    group by task_identifier, state`.execute(db);
  return rows;
}
