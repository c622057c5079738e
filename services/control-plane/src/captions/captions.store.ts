import { webVttFile } from '@framelane/captions/write-webvtt';
import type { components } from '@framelane/openapi/types';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { livingVideo } from '../db/living-video.ts';
import type { CaptionsRow } from '../db/schema.ts';
import type { StoredCues } from './stored-cues.ts';

/** The public record of captions. */
export type CaptionsRecord = components['schemas']['Captions'];

/** Captions to store. */
export type NewCaptions = Pick<CaptionsRow, 'language' | 'label' | 'origin' | 'revision'> & {
  isDefault: boolean;
  cues: StoredCues;
};

/** What changes about existing captions; absent fields stay. */
type CaptionsChanges = { label?: string; isDefault?: boolean; revision: number };

/** Captions of a part of a video. */
export type PartOfCaptions = Pick<CaptionsRow, 'language' | 'label' | 'origin'> & {
  isDefault: boolean;
  /** The cues that are shown in it, as blocks of WebVTT. */
  blocks: string;
};

/** Whether the workspace has this living video. */
export async function hasVideo(db: Database, workspaceId: string, videoId: string): Promise<boolean> {
  const row = await livingVideo(db, workspaceId, videoId).select('id').executeTakeFirst();
  return row !== undefined;
}

/** The captions of a video, by language. */
export async function listCaptions(db: Database, videoId: string): Promise<CaptionsRecord[]> {
  const rows = await db
    .selectFrom('captions')
    .innerJoin('artifacts', (join) =>
      join
        .onRef('artifacts.video_id', '=', 'captions.video_id')
        .on('artifacts.kind', '=', 'captions')
        .onRef('artifacts.name', '=', 'captions.language'),
    )
    .select([
      'language',
      'label',
      'is_default as default',
      'origin',
      'cue_count as cues',
      'bytes',
      'updated_at',
    ])
    .where('captions.video_id', '=', videoId)
    .orderBy(sql`language collate "C"`)
    .execute();
  return rows.map(({ updated_at, ...captions }) => ({ ...captions, updatedAt: updated_at.toISOString() }));
}

/** The workspace of a video; undefined if there is no such video. */
export async function findWorkspaceId(db: Database, videoId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('videos')
    .select('workspace_id')
    .where('id', '=', videoId)
    .executeTakeFirst();
  return row?.workspace_id;
}

/** The duration of a living video in seconds; null if it is not known, or the workspace has no such video. */
export async function findDuration(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<number | null> {
  const row = await livingVideo(db, workspaceId, videoId).select('duration').executeTakeFirst();
  return row?.duration ?? null;
}

/**
 * The WebVTT file of one language of a video; undefined when it has none. PostgreSQL joins the cues: the driver takes a tenth of a second
 * for an array of 50,000 texts.
 */
export async function findFile(db: Database, videoId: string, language: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('captions')
    .select(sql<string>`array_to_string(cues, E'\n')`.as('cues'))
    .where('video_id', '=', videoId)
    .where('language', '=', language)
    .executeTakeFirst();
  return row && webVttFile([row.cues]);
}

/** Sets or replaces the captions of a language. If they are the default, those of the other languages are not. */
export async function saveCaptions(trx: Database, videoId: string, captions: NewCaptions): Promise<void> {
  const { language, label, isDefault, origin, revision, cues } = captions;
  const values = {
    language,
    label,
    is_default: isDefault,
    origin,
    revision,
    cue_count: cues.count,
    cue_starts: sql<number[]>`${cues.starts}::bigint[]`,
    cue_ends: sql<number[]>`${cues.ends}::bigint[]`,
    cues: sql<string[]>`${cues.blocks}::text[]`,
    updated_at: sql<Date>`now()`,
  };
  if (isDefault) await clearOtherDefault(trx, videoId, language);
  await trx
    .insertInto('captions')
    .values({ ...values, video_id: videoId })
    .onConflict((conflict) => conflict.columns(['video_id', 'language']).doUpdateSet(values))
    .execute();
}

/** Changes the label or the default of existing captions. If they become the default, those of the other languages are not. */
export async function updateCaptions(
  trx: Database,
  videoId: string,
  language: string,
  { label, isDefault, revision }: CaptionsChanges,
): Promise<void> {
  if (isDefault) await clearOtherDefault(trx, videoId, language);
  await trx
    .updateTable('captions')
    // Kysely omits columns that are undefined.
    .set({ label, is_default: isDefault, revision, updated_at: sql`now()` })
    .where('video_id', '=', videoId)
    .where('language', '=', language)
    .execute();
}

async function clearOtherDefault(trx: Database, videoId: string, language: string): Promise<void> {
  await trx
    .updateTable('captions')
    .set({ is_default: false, updated_at: sql`now()` })
    .where('video_id', '=', videoId)
    .where('language', '<>', language)
    .where('is_default', '=', true)
    .execute();
}

export async function removeCaptions(trx: Database, videoId: string, language: string): Promise<void> {
  await trx.deleteFrom('captions').where('video_id', '=', videoId).where('language', '=', language).execute();
}

/** The captions of a living video that are shown between two times, in milliseconds. */
export async function findCaptionsWithin(
  db: Database,
  workspaceId: string,
  videoId: string,
  { from, to }: { from: number; to: number },
): Promise<PartOfCaptions[]> {
  return livingVideo(db, workspaceId, videoId)
    .innerJoin('captions', 'captions.video_id', 'videos.id')
    .select([
      'language',
      'label',
      'origin',
      'is_default as isDefault',
      sql<string>`(
        select coalesce(string_agg(block, E'\n' order by at), '')
        from unnest(cue_starts, cue_ends, cues) with ordinality as cue (starts, ends, block, at)
        where ends > ${from} and starts < ${to}
      )`.as('blocks'),
    ])
    .orderBy(sql`language collate "C"`)
    .execute();
}
