import { join } from 'node:path';
import { joinAlternative } from '@framelane/contracts/joined-manifest';
import type { CodecCopyTask } from '@framelane/contracts/outputs/codec-copy-task';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import { type EncodePlan, encodePlanIn } from '@framelane/contracts/transcode-plan';
import { inputOptions, MAX_THREADS, timeOptions, WITHOUT_METADATA } from '../../ffmpeg/arguments.ts';
import { videoCopyOptions } from '../../ffmpeg/encoder-options.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { InvalidSegmentError } from '../../packagers/packager.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT } from '../../sandbox/job-folder.ts';
import { removeTree } from '../../sandbox/remove-tree.ts';
import { storageFailure } from '../../transcode-failure.ts';
import { isCopyFailure } from '../copy-failure.ts';
import type { TaskJob, TaskKind } from '../kinds.ts';
import { namesOf, noOthers, type RunContext, runAndStore, secondsRead } from '../stored-run.ts';
import { codecPieces, runCodecPiece } from './codec-pieces.ts';
import { describeStored } from './describe-stored.ts';
import { pieceOutput } from './piece-arguments.ts';

/**
 * The top rendition in a codec that the video does not wait for, as a stream copy of the source. If the copy turns out to be invalid, the rendition is
 * encoded.
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
  const { work, output } = job;
  const encode = topOf(job);
  const { stored } = await runAndStore(
    {
      output,
      isBackground: true,
      commandLine: codecCopyArguments(encode, work, context.settings.threads),
      seconds: secondsRead(encode),
      progress: { key: 'frame', end: work.frames },
      segments: {
        renditions: namesOf(encode.videoRenditions),
        iFramesOf: null,
        maxSegments: work.segmentStarts.length,
        piece: { firstSegment: work.firstSegment, firstIFrame: 0, isFollowed: false },
      },
      storeOthers: noOthers,
    },
    encode,
    directory,
    context,
  );
  const result = { renditions: describeStored(encode, stored, work) };
  assertPlanned(job, result);
  return result;
}

/**
 * The run that copies all video of the source as the only rendition of a plan. Its segments begin where the task says: the source may have more key frames
 * than the other renditions.
 */
export function codecCopyArguments(
  plan: EncodePlan,
  work: CodecCopyTask,
  threads: number,
): FfmpegCommandLine {
  return {
    inputOptions: [...inputOptions(plan, Math.min(threads, MAX_THREADS)), ...timeOptions(plan)],
    input: SOURCE_INPUT,
    outputs: plan.videoRenditions.map((rendition) =>
      pieceOutput(rendition, work, plan, [
        ...['-map', `0:${plan.videoIndex}`],
        ...videoCopyOptions(rendition, plan),
        ...WITHOUT_METADATA,
      ]),
    ),
  };
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
