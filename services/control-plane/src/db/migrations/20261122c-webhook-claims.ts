import { type Kysely, sql } from 'kysely';

/** Jobs of the mechanism before. The tables of the job queue are not there yet in a new database. */
const deleteJobs = sql`
  do $$ begin
    if to_regclass('graphile_worker._private_jobs') is not null then
      delete from graphile_worker._private_jobs where task_id in
        (select id from graphile_worker._private_tasks where identifier = 'deliver-webhooks');
    end if;
  end $$`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table webhook_deliveries
      add column claimed_until timestamptz(3),
      add column round int not null default 1`.execute(db);
  await sql`
    create index webhook_deliveries_claimed on webhook_deliveries (endpoint_id)
    where claimed_until is not null`.execute(db);
  await sql`alter table webhook_endpoints drop column leased_until`.execute(db);
  await deleteJobs.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_deliveries drop column round, drop column claimed_until`.execute(db);
  await sql`alter table webhook_endpoints add column leased_until timestamptz(3)`.execute(db);
  // Its place was before these two.
  for (const column of ['created_at', 'updated_at'].map((name) => sql.ref(name))) {
    await sql`alter table webhook_endpoints rename column ${column} to former`.execute(db);
    await sql`alter table webhook_endpoints add column ${column} timestamptz(3) not null default now()`.execute(
      db,
    );
    await sql`update webhook_endpoints set ${column} = former`.execute(db);
    await sql`alter table webhook_endpoints drop column former`.execute(db);
  }
  await sql`
    create index webhook_endpoints_by_workspace on webhook_endpoints
    (workspace_id, created_at desc, id desc)`.execute(db);
}
