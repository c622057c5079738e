import { sql } from 'kysely';
import type { Backlog } from '../db/backlog.ts';
import type { Database } from '../db/database.ts';

/** Due and not taken yet; taken by a worker; failed, with a pause before the next try; given up after its last try. */
export type JobState = 'waiting' | 'running' | 'retrying' | 'exhausted';

/**
 * The jobs of each task by state, and how long the first has been due, been running or, if it is neither, been there; those
 * for later that have not been tried are none of them. Reads every job there is: done ones are deleted, so there are few.
 */
export async function findJobBacklog(db: Database): Promise<(Backlog & { task: string; state: JobState })[]> {
  const { rows } = await sql<Backlog & { task: string; state: JobState }>`
    select task_identifier as task, state, count(*) as count,
      greatest(extract(epoch from now() - min(since)), 0)::float8 as "oldestSeconds"
    from graphile_worker.jobs, lateral (
      select case
        when locked_at is not null then 'running'
        when attempts >= max_attempts then 'exhausted'
        when run_at <= now() then 'waiting'
        else 'retrying'
      end as state, coalesce(locked_at, case when run_at <= now() then run_at else created_at end) as since
    ) as now_is
    where locked_at is not null or run_at <= now() or attempts > 0
    group by task_identifier, state`.execute(db);
  return rows;
}
