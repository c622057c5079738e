import { type Kysely, sql } from 'kysely';

/**
 * People who sign in by OpenID Connect. Deleting the grant of a person in a workspace also deletes the sessions that depend on it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table console_people (
    email text not null,
    workspace_id text not null references workspaces,
    environments text[] not null,
    permissions text[] not null,
    administrator boolean not null default false,
    created_at timestamptz(3) not null default now(),
    primary key (email, workspace_id)
  )`.execute(db);
  await sql`alter table console_sessions
    add column person_email text,
    add constraint console_sessions_person_fkey foreign key (person_email, workspace_id)
      references console_people (email, workspace_id) on delete cascade`.execute(db);
  await sql`create index console_sessions_by_person on console_sessions (person_email, workspace_id)
    where person_email is not null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  // The previous version cannot end these sessions when a person is removed.
  await sql`delete from console_sessions where person_email is not null`.execute(db);
  await sql`alter table console_sessions drop column person_email`.execute(db);
  await sql`drop table console_people`.execute(db);
}
