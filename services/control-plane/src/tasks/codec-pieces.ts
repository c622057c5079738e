import { joinAlternative } from '@framelane/contracts/joined-manifest';
import type { RenditionManifest } from '@framelane/contracts/manifest';
import type { TaskTry } from '@framelane/contracts/messages';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { type AlternativeCodec, RUNGS } from '@framelane/contracts/renditions';
import { isSoundAlone, type TaskPlan } from '@framelane/contracts/transcode-plan';
import type { Logger } from '@framelane/service-kit/logger';
import { addArtifacts } from '../artifacts/artifacts.service.ts';
import { completedPlan } from '../attempts/attempts.service.ts';
import type { Database } from '../db/database.ts';
import type { AlternativeCodecState, VideoRow } from '../db/schema.ts';
import {
  CODEC_FAILED,
  codecResults,
  completeCodec,
  failCodec,
  NO_ROOM_FOR_CODEC,
} from '../outputs/codecs.ts';
import type { PlaybackService } from '../playback/playback.service.ts';
import { mayStore } from '../quotas/quotas.service.ts';
import type { UsageService } from '../usage/usage.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { artifactsOf } from './artifacts-of-results.ts';
import { sumOfBytes } from './derivations.store.ts';
import { makeCommandsDue } from './tasks.store.ts';

type Deps = { lifecycle: VideoLifecycle; playback: PlaybackService; usage: UsageService; logger: Logger };

/** Commands of optional tasks of one video that wait in the queue. */
const COMMANDS_AT_ONCE = 2;

/**
 * Ends the codecs of a video, locked and just ready, that its plan does not have, and those that its workspace has no room for. A codec is taken to
 * need as many bytes as H.264.
 */
export async function leaveOutCodecs(
  trx: Database,
  video: VideoRow,
  { encode, alternatives }: Pick<TaskPlan, 'encode' | 'alternatives'>,
  deps: Deps,
): Promise<void> {
  if (isSoundAlone(encode) || video.codecs.length === 0) return;
  const parts = RUNGS.map((rendition) => ({ rendition }));
  const ofCodec = await sumOfBytes(trx, video.id, parts);
  let bytes = 0;
  for (const { codec } of video.codecs) {
    const isPlanned = alternatives.some((ladder) => ladder.codec === codec);
    if (!isPlanned) await leaveOutCodec(trx, video, codec, CODEC_FAILED, deps);
    else if (await mayStore(trx, video.workspace_id, bytes + ofCodec)) bytes += ofCodec;
    else await leaveOutCodec(trx, video, codec, NO_ROOM_FOR_CODEC, deps);
  }
}

/**
 * Adds the segments of a piece to a ready, locked video. They count as stored at once. With the last piece of its codec, players get the codec,
 * unless the pieces are inconsistent.
 */
export async function addPiece(
  trx: Database,
  video: VideoRow,
  taskTry: TaskTry,
  { result, codec }: { result: TaskResult; codec: AlternativeCodec },
  deps: Deps,
): Promise<void> {
  await addArtifacts(trx, video.id, artifactsOf({ ...taskTry, revision: 0 }, [{ ...taskTry, result }]));
  const results = await codecResults(trx, video.id, codec);
  if (results === undefined) return;
  const renditions = await joinPieces(trx, video, { codec, results }, deps);
  if (renditions === undefined) return leaveOutCodec(trx, video, codec, CODEC_FAILED, deps);
  await deps.playback.add(trx, video, renditions);
  await deps.usage.countTranscode(trx, video, video.duration ?? 0);
  await completeCodec(trx, video, codec, deps);
  deps.logger.info('video.codec_ready', { videoId: video.id, codec });
  await deps.lifecycle.applyKeepSource(trx, video.id);
  // Objects of failed tries are kept as long as their tasks are.
  await deps.lifecycle.requestPurge(trx, video.id);
}

/** The renditions in a codec whose pieces are all done; undefined if they do not match the plan or each other. */
async function joinPieces(
  trx: Database,
  { id: videoId, attempt, start_timestamp: startTimestamp }: VideoRow,
  { codec, results }: { codec: AlternativeCodec; results: readonly TaskResult[] },
  { logger }: Deps,
): Promise<RenditionManifest[] | undefined> {
  const plan = await completedPlan(trx, videoId);
  if (plan === undefined || startTimestamp === null) throw new Error(`Video ${videoId} is not ready`);
  try {
    return joinAlternative(codec, plan, results, startTimestamp);
  } catch (error) {
    logger.error('video.codec_inconsistent', { videoId, attempt, codec, error });
    return undefined;
  }
}

/** Ends a codec of a ready, locked video with its tasks. What they have stored is purged, and the video stays as it is. */
export async function leaveOutCodec(
  trx: Database,
  video: VideoRow,
  codec: AlternativeCodec,
  error: NonNullable<AlternativeCodecState['error']>,
  { logger, lifecycle }: Pick<Deps, 'lifecycle' | 'logger'>,
): Promise<void> {
  const { id: videoId, attempt } = video;
  if (!(await failCodec(trx, video, { codec, error }, { lifecycle }))) return;
  logger.warn('video.codec_left_out', { videoId, codec, code: error.code });
  await lifecycle.applyKeepSource(trx, videoId);
  await lifecycle.requestPurge(trx, videoId);
  // Its tasks may have had the only commands of the video.
  await makeCommandsDue(trx, { videoId, attempt, command: 'background' }, COMMANDS_AT_ONCE);
}
