import { newId } from '@framelane/contracts/ids';
import type { Insertable } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { workspaceOf } from '../../src/db/fair-claims.ts';
import type { Schema } from '../../src/db/schema.ts';

/** Differences from a row with the fewest values that its table requires. */
type Difference<Table extends keyof Schema> = Partial<Insertable<Schema[Table]>>;

/** By default, a video that waits for its upload. Resolves with its id. */
export async function insertVideo(
  db: Database,
  workspace_id: string,
  difference: Difference<'videos'> = {},
): Promise<string> {
  const names = { title: 'Any', filename: 'any.mp4', environment: 'live', status: 'uploading' } as const;
  const video = { id: newId('vid'), workspace_id, ...names, ...difference };
  await db.insertInto('videos').values(video).execute();
  return video.id;
}

/** What differs from `insertVideo` in the row of a ready video. */
export const READY = {
  status: 'ready',
  content_key: 'key',
  variants: ['360p'],
  target_duration: 6,
  start_timestamp: 0,
} satisfies Difference<'videos'>;

export async function insertImport(
  db: Database,
  video_id: string,
  difference: Difference<'imports'> = {},
): Promise<void> {
  await db
    .insertInto('imports')
    .values({
      video_id,
      workspace_id: workspaceOf(video_id),
      shown_url: 'https://any.example',
      deadline: new Date(),
      ...difference,
    })
    .execute();
}

export async function insertTicket(
  db: Database,
  video_id: string,
  difference: Difference<'upload_tickets'> = {},
): Promise<void> {
  await db
    .insertInto('upload_tickets')
    .values({
      video_id,
      token_hash: Buffer.from(video_id),
      expires_at: new Date(),
      extension_seconds: 0,
      latest_expires_at: new Date(),
      ...difference,
    })
    .execute();
}

export async function insertRendition(
  db: Database,
  video_id: string,
  difference: Difference<'renditions'> = {},
): Promise<void> {
  await db
    .insertInto('renditions')
    .values({
      video_id,
      name: 'audio',
      codecs: 'mp4a.40.2',
      bandwidth: 1,
      average_bandwidth: 1,
      segment_durations: [1],
      segment_bytes: [1],
      ...difference,
    })
    .execute();
}

/** By default, the segments of the audio. */
export async function insertArtifact(
  db: Database,
  video_id: string,
  difference: Difference<'artifacts'> = {},
): Promise<void> {
  await db
    .insertInto('artifacts')
    .values({
      video_id,
      kind: 'segments',
      name: 'audio',
      attempt: 1,
      folder: 't0.1/',
      bytes: 1,
      ...difference,
    })
    .execute();
}

/** What differs from `insertArtifact` in the row of a source. */
export const SOURCE = { kind: 'source', name: '', attempt: null, folder: 'xfr_1/' } as const;

export async function insertChapters(db: Database, video_id: string): Promise<void> {
  await db
    .insertInto('chapters')
    .values({ video_id, origin: 'person', starts: [0, 4000], titles: ['A', 'B'] })
    .execute();
}

export async function insertCaptions(db: Database, video_id: string, language: string): Promise<void> {
  await db
    .insertInto('captions')
    .values({
      video_id,
      language,
      label: language,
      is_default: false,
      origin: 'person',
      revision: 1,
      cue_count: 1,
      cue_starts: [0],
      cue_ends: [1],
      cues: ['any'],
    })
    .execute();
  await insertArtifact(db, video_id, { kind: 'captions', name: language, attempt: null, folder: null });
}
