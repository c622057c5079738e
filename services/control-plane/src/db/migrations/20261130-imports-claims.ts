import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // With the name `workspace_id`, statements of the previous version that join this table with `videos` would be ambiguous. Rows that this
  // version inserts have an empty workspace. They take turns as those of one workspace.
  `alter table imports add column claim_id text, add column workspace text not null default ''`,
  // Those that have ended take no turn. There can be millions of them, and this locks the table.
  'update imports set workspace = videos.workspace_id from videos where videos.id = video_id and due_at is not null',
  'create index imports_by_claim on imports (claim_id) where claim_id is not null',
  'create index imports_by_turn on imports (workspace, due_at) where due_at is not null',
  'create index imports_claimed on imports (workspace) where claimed_until is not null',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table imports drop column claim_id, drop column workspace`.execute(db);
}
