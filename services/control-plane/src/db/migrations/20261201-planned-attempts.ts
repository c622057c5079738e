import { type Kysely, sql } from 'kysely';

/** Every attempt has a first task, which plans it. Open attempts begin again, because their engines know no such task. */
const STATEMENTS = [
  'delete from tasks',
  `update attempts set outcome = 'handed_back', finished_at = now(), plan = null, source_sha256 = null where outcome is null`,
  `alter table attempts drop column lease_expires_at, drop column claim_id, drop column heard,
    add column due_at timestamptz(3), alter column started_at drop not null, alter column started_at drop default`,
  'update attempts set due_at = started_at',
  'alter table attempts alter column due_at set not null',
  'alter table tasks rename column heard to reported',
  'alter table tasks rename column unheard_tries to unreported_tries',
  `alter table tasks drop constraint tasks_frames_check, drop constraint tasks_kind_check,
    add constraint tasks_frames_check check (frames >= 0),
    add constraint tasks_kind_check check (kind in ('plan', 'whole', 'passthrough', 'audio', 'images', 'piece'))`,
  'drop index tasks_by_command, tasks_by_turn, tasks_with_command',
  // The planning of videos and the tasks of plans have queues of their own, in which workspaces take turns.
  `create index tasks_to_plan_by_turn on tasks (workspace, command_due_at) where command_due_at is not null and kind = 'plan'`,
  `create index tasks_by_turn on tasks (workspace, command_due_at) where command_due_at is not null and kind not in ('plan', 'whole')`,
  `create index tasks_with_command on tasks (workspace)
    where command_published_at is not null or command_claimed_until is not null`,
  `update videos set attempt = attempt + 1, preview_variants = null where status = 'processing' and deleted_at is null`,
  `insert into attempts (video_id, number, due_at)
    select id, attempt, coalesce(waiting_since, now()) from videos where status = 'processing' and deleted_at is null`,
  `insert into tasks (video_id, workspace, attempt, number, kind, frames, failed_tries, due_at, command_due_at)
    select id, workspace_id, attempt, 0, 'plan', 0, failed_attempts, coalesce(waiting_since, now()), coalesce(command_due_at, now())
    from videos where status = 'processing' and deleted_at is null`,
  `alter table videos drop column failed_attempts, drop column command_due_at, drop column command_claimed_until,
    drop column command_published_at, drop column waiting_since`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
