import { ALIGNMENT_TOLERANCE_SECONDS } from '@framelane/contracts/joined-manifest';
import type { EncodePlan, PieceTask, Task, TaskPlan, TaskResult } from '@framelane/contracts/transcode-plan';
import type { ImageName } from '@framelane/object-store/object-keys';
import { audioArguments, copyArguments, imagesArguments, pieceArguments } from '../ffmpeg/task-arguments.ts';
import { storeImages } from '../output/image-uploads.ts';
import { describeStored } from '../output/manifest.ts';
import type { StoredSegments } from '../output/segment-uploads.ts';
import { InvalidSegmentError } from '../packagers/packager.ts';
import { encodedRenditions, iFrameSource } from '../plan/encode-plan.ts';
import { toNumber } from '../source/frame-rate.ts';
import type { TranscodeJobContext } from './job-source.ts';
import { maxSegments, namesOf, runAndStore, type TaskOutput } from './stored-run.ts';

/** One try of a task of a plan. */
export type TaskJob = { plan: TaskPlan; work: Task; output: TaskOutput };

const MICROSECONDS = 1_000_000;

/**
 * Runs one task in a directory with the source, and stores its output. Throws a TranscodeFailure, an InvalidSegmentError, or the
 * signal's reason when aborted. After a failure, stored objects remain; the caller removes them.
 */
export async function runTask(
  job: TaskJob,
  directory: string,
  context: TranscodeJobContext,
): Promise<TaskResult> {
  const { work } = job;
  switch (work.kind) {
    case 'piece':
      return runPiece(job, work, directory, context);
    case 'images':
      return runImages(job, work, directory, context);
    default:
      return runTracks(job, work.kind, directory, context);
  }
}

async function runPiece(
  job: TaskJob,
  piece: PieceTask,
  directory: string,
  context: TranscodeJobContext,
): Promise<TaskResult> {
  const { encode, encoder, iFrames, segmentStarts } = job.plan;
  const videoRenditions = encodedRenditions(encode);
  const { firstSegment, firstIFrame, frames } = piece;
  const count = piece.segmentStarts.length;
  const { stored } = await runAndStore(
    {
      output: job.output,
      commandLine: pieceArguments(encode, piece, { encoder, threads: context.settings.threads }),
      seconds: frames / toNumber(encode.frameRate),
      progress: { key: 'frame', end: Math.ceil(frames / (videoRenditions[0]?.frameStep ?? 1)) },
      segments: {
        renditions: namesOf(videoRenditions),
        iFramesOf: iFrames ? iFrameSource(videoRenditions) : null,
        maxSegments: count,
        piece: { firstSegment, firstIFrame, isFollowed: firstSegment + count < segmentStarts.length },
      },
      storeOthers: noOthers,
    },
    encode,
    directory,
    context,
  );
  // Without stream copies: a gap in encoded renditions does not come from the source.
  const encoded = { ...encode, videoRenditions, audio: [], copiesVideo: false };
  assertPlanned(stored, { ...job.plan, encode: encoded }, piece);
  return { renditions: describeStored(encoded, stored, piece, piece) };
}

/**
 * Throws if the segments of a piece are not the planned ones. Then the decoder or the encoder produced other frames, and the pieces
 * would not fit together.
 */
function assertPlanned(
  stored: StoredSegments,
  { encode, iFrames }: Pick<TaskPlan, 'encode' | 'iFrames'>,
  piece: PieceTask,
): void {
  const { firstSegment, firstFrame, segmentStarts } = piece;
  const rate = toNumber(encode.frameRate);
  for (const { name } of encode.videoRenditions) {
    const segments = stored.get(name)?.slice(firstSegment) ?? [];
    if (segments.length !== segmentStarts.length) {
      throw new InvalidSegmentError(`${name} has ${segments.length} segments, not ${segmentStarts.length}`);
    }
    const zero = segments[0]?.start ?? Number.NaN;
    const moved = segments.findIndex(({ start }, at) => {
      const planned = ((segmentStarts[at] ?? Number.NaN) - firstFrame) / rate;
      return !(Math.abs(start - zero - planned) <= ALIGNMENT_TOLERANCE_SECONDS);
    });
    if (moved !== -1) {
      throw new InvalidSegmentError(
        `Segment ${firstSegment + moved} of ${name} starts at another time than planned`,
      );
    }
  }
  const found = stored.get('iframes')?.length ?? 0;
  if (iFrames && found !== piece.iFrames) {
    throw new InvalidSegmentError(`A piece has ${found} I-frames, not ${piece.iFrames}`);
  }
}

async function runTracks(
  job: TaskJob,
  kind: 'copy' | 'audio',
  directory: string,
  context: TranscodeJobContext,
): Promise<TaskResult> {
  const { encode, encoder } = job.plan;
  const settings = { ...context.settings, ...encoder };
  const part: EncodePlan =
    kind === 'audio'
      ? { ...encode, videoRenditions: [] }
      : { ...encode, videoRenditions: encode.videoRenditions.slice(-1), audio: [] };
  const commandLine = (kind === 'audio' ? audioArguments : copyArguments)(encode, settings);
  const { stored } = await runAndStore(
    {
      output: job.output,
      commandLine,
      seconds: encode.duration,
      progress: { key: 'out_time_us', end: encode.duration * MICROSECONDS },
      segments: {
        renditions: namesOf([...part.videoRenditions, ...part.audio]),
        iFramesOf: null,
        maxSegments: maxSegments(job.plan),
      },
      storeOthers: noOthers,
    },
    encode,
    directory,
    context,
  );
  return { renditions: describeStored(part, stored, { firstFrame: 0, frames: encode.frames }) };
}

async function runImages(
  job: TaskJob,
  task: { keyFramesOnly: boolean },
  directory: string,
  context: TranscodeJobContext,
): Promise<TaskResult> {
  const { encode } = job.plan;
  const keyOf = (name: ImageName) => `${job.output.prefix}${name}`;
  const { others } = await runAndStore(
    {
      output: job.output,
      commandLine: imagesArguments(encode, task, job.plan.encoder),
      seconds: encode.duration,
      progress: { key: 'out_time_us', end: encode.duration * MICROSECONDS },
      segments: { renditions: new Set(), iFramesOf: null, maxSegments: 0 },
      storeOthers: (files, signal) =>
        storeImages(files, encode.images, { objects: context.objects, keyOf, signal }),
    },
    encode,
    directory,
    context,
  );
  return { renditions: [], images: others };
}

async function noOthers(): Promise<undefined> {}
