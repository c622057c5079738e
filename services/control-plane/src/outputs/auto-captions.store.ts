import { AUDIO_RENDITIONS, type AudioRendition } from '@framelane/contracts/renditions';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AutoCaptionsRow } from '../db/schema.ts';

/** Captions that a machine is to make, and whether they exist. */
export type RequestedCaptions = Pick<AutoCaptionsRow, 'requested' | 'language' | 'status'>;

/** Why captions could not be made. */
export type AutoCaptionsFailure = { code: NonNullable<AutoCaptionsRow['error_code']>; message: string };

/** All captions of a video that were asked for, in that order. */
export function findRequested(db: Database, videoId: string): Promise<RequestedCaptions[]> {
  return db
    .selectFrom('auto_captions')
    .select(['requested', 'language', 'status'])
    .where('video_id', '=', videoId)
    .orderBy('created_at')
    .orderBy('requested')
    .execute();
}

/** Stores that these captions are being prepared. Those that failed before are prepared again. */
export async function savePreparing(
  trx: Database,
  videoId: string,
  languages: readonly string[],
): Promise<void> {
  if (languages.length === 0) return;
  const anew = { status: 'preparing', error_code: null, error_message: null } as const;
  await trx
    .insertInto('auto_captions')
    .values(languages.map((requested) => ({ video_id: videoId, requested })))
    .onConflict((conflict) => conflict.columns(['video_id', 'requested']).doUpdateSet(anew))
    .execute();
}

/** Stores that captions are ready, in this language. */
export async function saveReady(
  trx: Database,
  videoId: string,
  requested: string,
  language: string,
): Promise<void> {
  await trx
    .updateTable('auto_captions')
    .set({ status: 'ready', language, ready_at: sql<Date>`now()` })
    .where('video_id', '=', videoId)
    .where('requested', '=', requested)
    .execute();
}

/** Stores why captions could not be made. */
export async function saveFailed(
  trx: Database,
  videoId: string,
  requested: string,
  { code, message }: AutoCaptionsFailure,
): Promise<void> {
  await trx
    .updateTable('auto_captions')
    .set({ status: 'failed', error_code: code, error_message: message })
    .where('video_id', '=', videoId)
    .where('requested', '=', requested)
    .execute();
}

/**
 * Forgets the requests for captions of this language, and for `und` those whose language has not been detected. Resolves with what was asked for.
 */
export async function forgetAll(trx: Database, videoId: string, language: string): Promise<string[]> {
  const undetected = language === 'und' ? '' : language;
  const rows = await trx
    .deleteFrom('auto_captions')
    .where('video_id', '=', videoId)
    .where(({ eb, or, and }) =>
      or([
        eb('language', '=', language),
        eb('requested', '=', language),
        and([eb('language', 'is', null), eb('requested', '=', undetected)]),
      ]),
    )
    .returning('requested')
    .execute();
  return rows.map(({ requested }) => requested);
}

/** Forgets captions of this language that were made or could not be made: they are a person's now. */
export async function forgetEnded(trx: Database, videoId: string, language: string): Promise<void> {
  await trx
    .deleteFrom('auto_captions')
    .where('video_id', '=', videoId)
    .where((eb) => eb.or([eb('language', '=', language), eb('requested', '=', language)]))
    .where('status', '<>', 'preparing')
    .execute();
}

/** The audio renditions of a video, the default one first, with the language of each. */
export async function findAudio(
  db: Database,
  videoId: string,
): Promise<{ name: AudioRendition; language: string | null }[]> {
  const rows = await db
    .selectFrom('renditions')
    .select(['name', 'language'])
    .where('video_id', '=', videoId)
    .execute();
  return AUDIO_RENDITIONS.flatMap((name) =>
    rows.filter((row) => row.name === name).map(({ language }) => ({ name, language })),
  );
}

/** The languages in which a video has captions that no machine has made. */
export async function findOwnLanguages(db: Database, videoId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('captions')
    .select('language')
    .where('video_id', '=', videoId)
    .where('origin', '<>', 'machine')
    .execute();
  return new Set(rows.map(({ language }) => language));
}
