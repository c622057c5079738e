import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // `workspace` has this name and this default for the reason that `20261130-imports-claims` gives.
  `alter table tasks add column claim_id text, add column heard boolean not null default false,
    add column unheard_tries int not null default 0, add column workspace text not null default ''`,
  'update tasks set workspace = videos.workspace_id from videos where videos.id = video_id',
  'create index tasks_by_turn on tasks (workspace, command_due_at) where command_due_at is not null',
  `create index tasks_with_command on tasks (workspace)
    where command_published_at is not null or command_claimed_until is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tasks drop column claim_id, drop column heard, drop column unheard_tries, drop column workspace`.execute(
    db,
  );
}
