import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue, secondsSince } from '../db/due-rows.ts';

/** A claimed step. `dueAt` identifies the run: the due time of the next run differs. */
export type ClaimedStep = { name: string; dueAt: Date };

/** Adds the steps that the database does not know yet. They are due at once. */
export async function insertSteps(db: Database, names: readonly string[]): Promise<void> {
  await db
    .insertInto('maintenance_steps')
    .values(names.map((name) => ({ name })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Claims up to `limit` of the named steps that are due, the longest due first. */
export async function claimDueSteps(
  db: Database,
  { names, limit, leaseSeconds }: { names: readonly string[]; limit: number; leaseSeconds: number },
): Promise<ClaimedStep[]> {
  const { rows } = await sql<ClaimedStep>`
    with due as (
      select name from maintenance_steps
      where name = any(${names}) and ${isDue('due_at', 'claimed_until')}
      order by due_at limit ${limit}
      for update skip locked
    )
    update maintenance_steps step set claimed_until = ${inSeconds(leaseSeconds)}
    from due where step.name = due.name
    returning step.name, due_at as "dueAt"`.execute(db);
  return rows;
}

/** Schedules the next run of a step, unless another run was scheduled meanwhile. */
export async function scheduleNextRun(
  db: Database,
  { name, dueAt }: ClaimedStep,
  seconds: number,
): Promise<void> {
  await db
    .updateTable('maintenance_steps')
    .set({ due_at: inSeconds(seconds), claimed_until: null })
    .where('name', '=', name)
    .where('due_at', '=', dueAt)
    .execute();
}

/** Extends the claim on a step to `seconds` from now. */
export async function renewStepClaim(
  db: Database,
  { name, dueAt }: ClaimedStep,
  seconds: number,
): Promise<void> {
  await db
    .updateTable('maintenance_steps')
    .set({ claimed_until: inSeconds(seconds) })
    .where('name', '=', name)
    .where('due_at', '=', dueAt)
    .execute();
}

/**
 * Schedules a run of a step for now. If the step is in progress, its claim can no longer be renewed, and the new run begins when the
 * claim has expired.
 */
export async function scheduleStepNow(db: Database, name: string): Promise<void> {
  await db
    .updateTable('maintenance_steps')
    .set({ due_at: sql<Date>`now()` })
    .where('name', '=', name)
    .execute();
}

/** Ends every claim. */
export async function releaseClaims(db: Database): Promise<void> {
  await db
    .updateTable('maintenance_steps')
    .set({ claimed_until: null })
    .where('claimed_until', 'is not', null)
    .execute();
}

/** The due steps, including those in progress. */
export async function findStepBacklog(db: Database, names: readonly string[]): Promise<Backlog> {
  return db
    .selectFrom('maintenance_steps')
    .select([sql<number>`count(*)`.as('count'), secondsSince(sql`min(due_at)`).as('oldestSeconds')])
    .where('name', 'in', names)
    .where('due_at', '<=', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
}
