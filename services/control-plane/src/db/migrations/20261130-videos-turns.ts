import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  'create index videos_by_turn on videos (workspace_id, command_due_at) where command_due_at is not null',
  'create index videos_being_commanded on videos (workspace_id) where command_claimed_until is not null',
  `create index videos_commanded on videos (workspace_id)
    where status = 'processing' and deleted_at is null and command_due_at is null and command_published_at is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_turn, videos_being_commanded, videos_commanded`.execute(db);
}
