import { join } from 'node:path';
import { joinAlternative } from '@framelane/contracts/joined-manifest';
import type { CodecCopyTask } from '@framelane/contracts/outputs/codec-copy-task';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import { encodePlanIn } from '@framelane/contracts/transcode-plan';
import { InvalidSegmentError } from '../../packagers/packager.ts';
import { OUTPUT_FOLDER } from '../../sandbox/job-folder.ts';
import { removeTree } from '../../sandbox/remove-tree.ts';
import { storageFailure } from '../../transcode-failure.ts';
import { isCopyFailure } from '../copy-failure.ts';
import type { TaskJob, TaskKind } from '../kinds.ts';
import type { RunContext } from '../stored-run.ts';
import { codecPieces, runCodecPiece } from './codec-pieces.ts';
import { copyArguments } from './copy-task.ts';
import { runTracks } from './track-run.ts';

/**
 * The top rendition in a codec that the video does not wait for, as a stream copy of the source. If the copy turns out to be invalid, the rendition is
 * encoded: all renditions are cut at the key frames of the source by then.
 */
export const CODEC_COPY: TaskKind<CodecCopyTask> = {
  plan: () => [],
  planOptional: (video) => {
    const { copiedAlternative: codec } = video.encode;
    if (codec === undefined) return [];
    return codecPieces(video, null).map((piece) => ({ kind: 'codec_copy', codec, ...piece }));
  },
  run: async (job, directory, context) => {
    try {
      return await copy(job, directory, context);
    } catch (error) {
      if (!isCopyFailure(error)) throw error;
      context.logger.warn('transcode.copy_failed', { ...job.output.facts, error });
      await startOver(job, directory, context);
      return runCodecPiece(job, { ...topOf(job), copiesVideo: false }, directory, context);
    }
  },
  // The seconds of the video are counted when it becomes ready.
  seconds: () => 0,
};

/** The plan with the top rendition in the codec alone. */
function topOf({ plan, work }: TaskJob<CodecCopyTask>) {
  const encode = encodePlanIn(work.codec, plan);
  return { ...encode, videoRenditions: encode.videoRenditions.slice(-1) };
}

async function copy(
  job: TaskJob<CodecCopyTask>,
  directory: string,
  context: RunContext,
): Promise<TaskResult> {
  const { plan } = job;
  const encode = topOf(job);
  const commandLine = copyArguments(encode, { ...context.settings, ...plan.encoder });
  const ofCodec = { ...job, plan: { ...plan, encode, iFrames: false } };
  const result = await runTracks(ofCodec, encode, commandLine, directory, context, { isBackground: true });
  assertPlanned(job, result);
  return result;
}

/** Throws if the segments are not the planned ones. The control plane finds that, too, but cannot let the engine encode them. */
function assertPlanned(job: TaskJob<CodecCopyTask>, result: TaskResult): void {
  const { plan, work } = job;
  const { packaging, videoRenditions } = topOf(job);
  const top = { ...plan, alternatives: [{ codec: work.codec, videoRenditions }] };
  try {
    joinAlternative(work.codec, top, [result], PACKAGINGS[packaging].startTimestamp);
  } catch (error) {
    throw new InvalidSegmentError('The segments are not as planned', { cause: error });
  }
}

/** Removes what the copy has left. */
async function startOver(
  { output }: TaskJob<CodecCopyTask>,
  directory: string,
  { objects }: RunContext,
): Promise<void> {
  await removeTree(join(directory, OUTPUT_FOLDER));
  await objects.deletePrefix(output.prefix).catch((cause: unknown) => {
    throw storageFailure(cause);
  });
  output.onStartOver?.();
}
