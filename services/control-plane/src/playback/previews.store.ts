import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import type { Task } from '@framelane/contracts/outputs/tasks';
import type { RenditionName, RungName } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { secondsSince } from '../db/due-rows.ts';
import type { PlannedVideo } from './planned-renditions.ts';
import type { TaskProgress } from './playable-rungs.ts';

type Attempt = { videoId: string; attempt: number };

/** A video that can be played while it is transcoded. */
export type Preview = { attempt: number; variants: RungName[]; startedRenditions: StartedRenditions };

/** The preview of a video, if it has one. */
export async function findPreview(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<Preview | undefined> {
  const row = await previewedVideos(db, workspaceId, videoId)
    .select([
      'preview_variants as variants',
      sql<StartedRenditions>`(
        select coalesce(jsonb_object_agg(name, started), '{}')
        from tasks, jsonb_each(started_renditions) as stored (name, started) where tasks.video_id = videos.id
      )`.as('startedRenditions'),
    ])
    .executeTakeFirst();
  return row?.variants ? { ...row, variants: row.variants } : undefined;
}

/** The open attempt at a video with a preview. */
export async function findPreviewedAttempt(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<number | undefined> {
  return (await previewedVideos(db, workspaceId, videoId).executeTakeFirst())?.attempt;
}

/** Deleted videos have no preview, and neither have videos whose attempt has ended. */
function previewedVideos(db: Database, workspaceId: string, videoId: string) {
  return openPlans(db)
    .where('preview_variants', 'is not', null)
    .where('videos.id', '=', videoId)
    .where('videos.workspace_id', '=', workspaceId);
}

/**
 * The plans of the open attempts at videos that are not deleted. A plan that replaces another one has no preview: reports about the first
 * one can arrive late, and players that have its playlists would not notice.
 */
function openPlans(db: Database) {
  return db
    .selectFrom('videos')
    .innerJoin('attempts', (join) =>
      join.onRef('attempts.video_id', '=', 'videos.id').onRef('attempts.number', '=', 'videos.attempt'),
    )
    .where('outcome', 'is', null)
    .where(sql<boolean>`plan -> 'revision' = '0'`)
    .where('deleted_at', 'is', null)
    .select('attempts.number as attempt');
}

/** The plan of an open attempt; undefined if the attempt has ended. */
export async function findPlan(
  db: Database,
  { videoId, attempt }: Attempt,
): Promise<(PlannedVideo & Pick<TranscodePlan, 'revision'>) | undefined> {
  const row = await db
    .selectFrom('attempts')
    .select([
      'plan',
      sql<PlannedVideo['facts']['audioTracks'] | null>`planned -> 'facts' -> 'audioTracks'`.as('audioTracks'),
      sql<Task[]>`(
        select coalesce(jsonb_agg(work order by tasks.number) filter (where work is not null), '[]') from tasks
        where tasks.video_id = attempts.video_id and tasks.attempt = attempts.number
      )`.as('tasks'),
    ])
    .where('video_id', '=', videoId)
    .where('number', '=', attempt)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  if (!row?.plan || row.audioTracks === null) return undefined;
  const { plan, audioTracks, tasks } = row;
  return { ...plan, facts: { audioTracks }, tasks };
}

/**
 * The initialization section of a rendition, in base64: null until an engine has stored the first segment of the rendition. Undefined if
 * the attempt has ended.
 */
export async function findStartedInitialization(
  db: Database,
  { videoId, attempt }: Attempt,
  rendition: RenditionName,
): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('attempts')
    .select(
      sql<string | null>`(
        select started_renditions -> ${rendition}::text ->> 'initialization' from tasks
        where tasks.video_id = attempts.video_id and tasks.attempt = attempts.number and started_renditions ? ${rendition}::text
        limit 1
      )`.as('initialization'),
    )
    .where('video_id', '=', videoId)
    .where('number', '=', attempt)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  return row?.initialization;
}

/** The latest try of a task; undefined if its attempt has ended. */
export async function findLatestTry(
  db: Database,
  { videoId, attempt, task }: { videoId: string; attempt: number; task: number },
): Promise<number | undefined> {
  const row = await db
    .selectFrom('tasks')
    .select('tries')
    .where('video_id', '=', videoId)
    .where('attempt', '=', attempt)
    .where('number', '=', task)
    .executeTakeFirst();
  return row?.tries;
}

/** What the decision about an offer needs. */
type Offer = {
  title: string;
  /** The renditions that are offered so far. */
  offered: RungName[] | null;
  uploadedAt: Date | null;
  /** The states of the tasks, in the order of the plan. A plan without tasks has one task for everything. */
  tasks: TaskProgress[];
};

/** What is offered of an attempt, and how far its tasks are; undefined if the attempt has ended or can have no preview. */
export async function findOffer(db: Database, attempt: Attempt): Promise<Offer | undefined> {
  return offerable(db, attempt)
    .select([
      'title',
      'preview_variants as offered',
      'uploaded_at as uploadedAt',
      sql<TaskProgress[]>`(
        select coalesce(jsonb_agg(jsonb_build_object(
          'progress', progress, 'startedRenditions', started_renditions, 'isDone', result is not null,
          'runningSeconds', case when lease_expires_at is not null then ${secondsSince(sql`started_at`)} end
        ) order by number), '[]')
        from tasks where video_id = videos.id and attempt = attempts.number and kind <> 'plan'
      )`.as('tasks'),
    ])
    .executeTakeFirst();
}

/** The plan of an open attempt that can have a preview. */
function offerable(db: Database, { videoId, attempt }: Attempt) {
  return openPlans(db)
    .where('videos.id', '=', videoId)
    .where('videos.attempt', '=', attempt)
    .where('status', '=', 'processing');
}

/** Ends the preview of a video. */
export async function withdrawPreview(trx: Database, videoId: string): Promise<void> {
  await trx
    .updateTable('videos')
    .set({ preview_variants: null, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .where('preview_variants', 'is not', null)
    .execute();
}

/**
 * Offers more renditions of a video than before. Resolves with false if another control plane has done so, or
 * the attempt has ended.
 */
export async function storePreview(
  db: Database,
  { videoId, attempt }: Attempt,
  { offered, variants }: { offered: RungName[] | null; variants: RungName[] },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // A plan that replaces the first one is stored under this lock, and withdraws the preview.
    await trx.selectFrom('videos').select('id').where('id', '=', videoId).forUpdate().execute();
    const result = await trx
      .updateTable('videos')
      .set({ preview_variants: variants, updated_at: sql`now()` })
      .where('id', 'in', offerable(trx, { videoId, attempt }).clearSelect().select('videos.id'))
      .where(sql<boolean>`preview_variants is not distinct from ${offered}::text[]`)
      .executeTakeFirst();
    return result.numUpdatedRows === 1n;
  });
}
