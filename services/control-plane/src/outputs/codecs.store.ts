import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AlternativeCodecState } from '../db/schema.ts';

/** Stores how the preparation of a codec of a video has ended. Resolves with whether it was being prepared. */
export async function endPreparation(
  trx: Database,
  videoId: string,
  state: AlternativeCodecState,
): Promise<boolean> {
  const { codec } = state;
  const preparing = JSON.stringify([{ codec, status: 'preparing' }]);
  const { numUpdatedRows } = await trx
    .updateTable('videos')
    .set({
      codecs: sql`(
        select jsonb_agg(case when each ->> 'codec' = ${codec} then ${JSON.stringify(state)}::jsonb else each end order by place)
        from jsonb_array_elements(codecs) with ordinality as list (each, place)
      )`,
      updated_at: sql`now()`,
    })
    .where('id', '=', videoId)
    .where(sql<boolean>`codecs @> ${preparing}::jsonb`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The codecs of a video that are being prepared. */
export async function findPreparingCodecs(trx: Database, videoId: string): Promise<AlternativeCodec[]> {
  const { codecs } = await trx
    .selectFrom('videos')
    .select('codecs')
    .where('id', '=', videoId)
    .executeTakeFirstOrThrow();
  return codecs.filter(({ status }) => status === 'preparing').map(({ codec }) => codec);
}

/** The results of the tasks that make a codec of a video; undefined while one of them is not done. */
export async function findCodecResults(
  trx: Database,
  videoId: string,
  codec: AlternativeCodec,
): Promise<TaskResult[] | undefined> {
  const ofCodec = trx.selectFrom('tasks').where('video_id', '=', videoId).where(isTaskOf(codec));
  const missing = await ofCodec
    .select(sql`1`.as('one'))
    .where('result', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (missing) return undefined;
  const rows = await ofCodec.select('result').execute();
  return rows.flatMap(({ result }) => result ?? []);
}

/** Deletes the tasks that make a codec of a video. An engine that works on one stops. */
export async function deleteCodecTasks(
  trx: Database,
  videoId: string,
  codec: AlternativeCodec,
): Promise<void> {
  await trx.deleteFrom('tasks').where('video_id', '=', videoId).where(isTaskOf(codec)).execute();
}

function isTaskOf(codec: AlternativeCodec): RawBuilder<boolean> {
  return sql<boolean>`work @> ${JSON.stringify({ codec })}::jsonb`;
}
