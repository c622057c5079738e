import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // With the name `workspace_id`, statements of the previous version that join these tables with `videos` would be ambiguous. Rows that this
  // version inserts have an empty workspace. They take turns as those of one workspace.
  `alter table imports add column workspace text not null default ''`,
  'update imports set workspace = videos.workspace_id from videos where videos.id = video_id',
  'create index imports_by_turn on imports (workspace, due_at) where due_at is not null',
  'create index imports_claimed on imports (workspace) where claimed_until is not null',
  `alter table tasks add column workspace text not null default ''`,
  'update tasks set workspace = videos.workspace_id from videos where videos.id = video_id',
  'create index tasks_by_turn on tasks (workspace, command_due_at) where command_due_at is not null',
  `create index tasks_with_command on tasks (workspace)
    where command_published_at is not null or command_claimed_until is not null`,
  'create index videos_by_turn on videos (workspace_id, command_due_at) where command_due_at is not null',
  'create index videos_being_commanded on videos (workspace_id) where command_claimed_until is not null',
  `create index videos_commanded on videos (workspace_id)
    where status = 'processing' and deleted_at is null and command_due_at is null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_turn, videos_being_commanded, videos_commanded`.execute(db);
  await sql`alter table tasks drop column workspace`.execute(db);
  await sql`alter table imports drop column workspace`.execute(db);
}
