import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { type AlternativeCodec, renditionsIn } from '@framelane/contracts/renditions';
import { removeArtifacts } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { AlternativeCodecState, VideoRow } from '../db/schema.ts';
import { deleteCodecTasks, endPreparation, findCodecResults, findPreparingCodecs } from './codecs.store.ts';

/** What reports the end of codecs. */
export type CodecDeps = {
  lifecycle: { recordEndOfCodecs(trx: Database, video: VideoRow, codec: AlternativeCodec): Promise<void> };
};

type CodecError = NonNullable<AlternativeCodecState['error']>;

export const NO_ROOM_FOR_CODEC: CodecError = {
  code: 'quota_exceeded',
  message: 'The workspace may not store that many bytes. The video can be played in the other codecs.',
};

export const SOURCE_DELETED: CodecError = {
  code: 'source_deleted',
  message: 'The uploaded file was deleted before the video was encoded in this codec.',
};

// What the engine reports is about a video; the log has it.
export const CODEC_FAILED: CodecError = {
  code: 'codec_failed',
  message: 'The video could not be encoded in this codec. It can be played in the others.',
};

/** The results of the tasks that make a codec of a video; undefined while one of them is not done. */
export function codecResults(
  trx: Database,
  videoId: string,
  codec: AlternativeCodec,
): Promise<TaskResult[] | undefined> {
  return findCodecResults(trx, videoId, codec);
}

/** Stores that players can have a codec of a ready, locked video, and ends its tasks, which are done. */
export async function completeCodec(
  trx: Database,
  video: VideoRow,
  codec: AlternativeCodec,
  deps: CodecDeps,
): Promise<void> {
  await deleteCodecTasks(trx, video.id, codec);
  if (await endPreparation(trx, video.id, { codec, status: 'ready', error: null }))
    await deps.lifecycle.recordEndOfCodecs(trx, video, codec);
}

/**
 * Ends a codec of a ready, locked video that is being prepared, with its tasks; what they have stored no longer counts. The caller schedules the
 * purge of the objects. Resolves with whether it was being prepared.
 */
export async function failCodec(
  trx: Database,
  video: VideoRow,
  { codec, error }: { codec: AlternativeCodec; error: CodecError },
  deps: CodecDeps,
): Promise<boolean> {
  if (!(await endPreparation(trx, video.id, { codec, status: 'failed', error }))) return false;
  await deleteCodecTasks(trx, video.id, codec);
  await removeArtifacts(trx, video.id, 'segments', renditionsIn(codec));
  await deps.lifecycle.recordEndOfCodecs(trx, video, codec);
  return true;
}

/** Ends all codecs of a ready, locked video that are being prepared, as `failCodec` does. */
export async function failCodecs(
  trx: Database,
  video: VideoRow,
  error: CodecError,
  deps: CodecDeps,
): Promise<void> {
  for (const codec of await findPreparingCodecs(trx, video.id))
    await failCodec(trx, video, { codec, error }, deps);
}
