import { randomUUID } from 'node:crypto';
import {
  type ClaimedClip,
  type ClaimedDerivation,
  type ClaimedPlanning,
  type ClaimedTask,
  type ClaimTaskResponse,
  type ReportNoRoomRequest,
  storePlanRequest,
} from '@framelane/contracts/internal-api';
import {
  type CommandType,
  createMessage,
  isDerivationCommand,
  type Message,
  type MessageData,
  type TaskTry,
} from '@framelane/contracts/messages';
import type { DerivationCommand } from '@framelane/contracts/outputs/kinds';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import { VIDEO_RENDITIONS } from '@framelane/contracts/renditions';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import { outputPrefix, taskFolder } from '@framelane/object-store/object-keys';
import { ObjectNotFoundError } from '@framelane/object-store/object-store';
import { activeSpan, withSpan } from '@framelane/service-kit/tracing';
import { diskNeedOf, secondsOf } from '../outputs/run-task.ts';
import type { TaskOutput } from '../outputs/stored-run.ts';
import { InvalidSegmentError } from '../packagers/packager.ts';
import { TranscodeFailure } from '../transcode-failure.ts';
import type { Reservation } from './disk-reservations.ts';
import { reportFailure } from './failure-report.ts';
import { leaveToOthers } from './insufficient-disk-space.ts';
import { withJobDirectory } from './job-directory.ts';
import { diskNeed, type JobSource, type TranscodeJobContext, withSource } from './job-source.ts';
import type { PlanningJob } from './planning-job.ts';
import { publishResult, removeStored, repeatUntilResponse } from './results.ts';
import type { TaskClient } from './task-client.ts';
import { WorkLease, WorkObsoleteError } from './work-lease.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Bytes of disk for each byte that a clip reads to it: its input and its output. */
const NEED_OF_CLIPS = 2;

type Command = MessageData<CommandType>;

/** What a try runs with. */
type TryContext = TranscodeJobContext & Pick<WorkerParts, 'media' | 'metrics'>;

/** What a try has made, with the function that counts it; undefined if it has stored a plan with tasks, which engines claim. */
type Made = { result: TaskResult; count: () => void } | undefined;

/** Handles a command: claims a task of the video, runs it, and publishes the result. */
export async function handleCommand(
  type: CommandType,
  command: Command,
  { redelivered }: { redelivered: boolean },
  worker: WorkerParts,
): Promise<void> {
  const { videoId, inputBytes, waitingSince } = command;
  const { controlPlane, sources, logger, stopping } = worker;
  // The cached source stays for other tasks of the video.
  const releaseSource = sources.hold(videoId);
  let reservation: Reservation | null = null;
  try {
    reservation = await worker.disk.reserve(needOf(type, command, worker));
    if (!reservation) {
      const waitedSeconds = (Date.now() - Date.parse(waitingSince)) / 1000;
      logger.warn('work.insufficient_disk_space', { videoId, command: type, inputBytes, waitedSeconds });
      leaveToOthers(type, redelivered, worker);
      if (isDerivationCommand(type)) await reportNoRoom({ videoId, command: type, inputBytes }, worker);
      return;
    }
    const request = { videoId, command: type, planVersion: PLAN_VERSION, claimId: randomUUID() };
    const claim = await repeatUntilResponse(() => controlPlane.claimTask(request), {
      videoId,
      logger,
      signal: stopping,
    });
    if (claim) await runTracedTry(command, claim, reservation, worker);
    else logger.info('work.not_claimable', { videoId });
  } finally {
    reservation?.release();
    releaseSource();
  }
}

/** Tells the control plane that a derivation does not fit, which ends it if it has waited for long. The next engine without room does the same. */
async function reportNoRoom(
  request: ReportNoRoomRequest,
  { controlPlane, logger }: WorkerParts,
): Promise<void> {
  await controlPlane
    .reportNoRoom(request)
    .catch((error: unknown) => logger.warn('work.request_failed', { videoId: request.videoId, error }));
}

/** Bytes of disk for each byte that a derivation reads: its input and its output. Those of decoded sound are many. */
const NEED_OF_DERIVATIONS: Readonly<Record<DerivationCommand, number>> = {
  derive: 2,
  picture: 2,
  transcribe: 9,
};

/**
 * The bytes of disk that a command reserves, for the whole source: only the claim shows which part the task needs, and which derivation it is. The
 * one that needs most has its input and its output on the disk. The command of a clip has the bytes of what the engine reads to its disk.
 */
function needOf(type: CommandType, { videoId, inputBytes }: Command, { sources }: WorkerParts): number {
  if (type === 'clip') return NEED_OF_CLIPS * inputBytes;
  if (isDerivationCommand(type)) return NEED_OF_DERIVATIONS[type] * inputBytes;
  return diskNeed({ videoId, sourceBytes: inputBytes }, sources);
}

/** Runs a try in a span of its own. */
function runTracedTry(
  command: Command,
  claim: ClaimTaskResponse,
  disk: Reservation,
  worker: WorkerParts,
): Promise<void> {
  const { attempt, task, try: tryNumber, work } = claim;
  const attributes = {
    'framelane.video.id': command.videoId,
    'framelane.workspace.id': command.workspaceId,
    'framelane.attempt': attempt,
    'framelane.task': task,
    'framelane.try': tryNumber,
    'framelane.task.kind': work.kind,
    'framelane.codec': 'codec' in work ? work.codec : undefined,
    'framelane.rendition': 'rendition' in work ? work.rendition : undefined,
  };
  return withSpan(`task ${work.kind}`, { attributes }, () => runTry(command, claim, disk, worker));
}

async function runTry(
  command: Command,
  claim: ClaimTaskResponse,
  disk: Reservation,
  worker: WorkerParts,
): Promise<void> {
  const { logger, bus, controlPlane, stopping } = worker;
  const { attempt, task, try: tryNumber, work, leaseSeconds } = claim;
  const taskTry = { videoId: command.videoId, attempt, task, try: tryNumber };
  const facts = { ...taskTry, kind: work.kind };
  const startedAt = Date.now();
  let startedRenditions: StartedRenditions = {};
  const report = (fraction: number) =>
    bus.publish(createMessage('task.progress', { ...taskTry, fraction, startedRenditions }));
  const isCurrent = () => controlPlane.isTaskCurrent(taskTry);
  const lease = new WorkLease({ leaseSeconds, facts, report, isCurrent }, logger);
  // The first report says that this engine has received the claim.
  lease.reportSoon();
  const output: TaskOutput = {
    facts: taskTry,
    contentKey: Buffer.from(claim.contentKey, 'base64'),
    prefix: outputPrefix({ ...command, attempt, folder: taskFolder(task, tryNumber) }),
    onStartOver: () => {
      startedRenditions = {};
    },
    onRenditionStarted: (rendition, started) => {
      startedRenditions[rendition] = started;
      // A whole video has no preview before one of its video renditions has started.
      const hasVideo = VIDEO_RENDITIONS.some((name) => startedRenditions[name] !== undefined);
      if ('plan' in claim || hasVideo) lease.reportSoon();
    },
  };
  const context = {
    ...worker,
    disk,
    signal: AbortSignal.any([stopping, lease.signal]),
    onProgress: (fraction: number) => lease.progress(fraction),
  };
  logger.info('task.started', { ...facts, bytes: claim.inputBytes });
  let made: Made;
  let completed: Message | undefined;
  try {
    if ('parent' in claim) made = await runClaimedClip(claim, output, context);
    else if ('plan' in claim) made = await runClaimedTask(claim, output, context);
    else if ('tracks' in claim) made = await runClaimedDerivation(claim, output, context);
    else made = await runClaimedPlanning(claim, output, context, controlPlane);
    // Throws for a result that the contract refuses.
    completed = made && createMessage('task.completed', { ...taskTry, result: made.result });
  } catch (error) {
    lease.stop();
    await removeStored(output.prefix, facts, worker);
    // What a try reads is deleted with its video.
    const isObsolete = isMissingObject(error) && !(await isCurrent().catch(() => true));
    await fail(taskTry, claim, isObsolete ? new WorkObsoleteError('The video was deleted') : error, worker);
    return;
  }
  lease.stop();
  logger.info('task.finished', { ...facts, seconds: (Date.now() - startedAt) / 1000 });
  if (made === undefined || completed === undefined) return;
  await publishResult(completed, bus);
  made.count();
}

function isMissingObject(error: unknown): boolean {
  return error instanceof TranscodeFailure && error.cause instanceof ObjectNotFoundError;
}

async function runClaimedTask(claim: ClaimedTask, output: TaskOutput, context: TryContext): Promise<Made> {
  const { sourceKey, inputBytes: sourceBytes, plan, work, watermark } = claim;
  const { metrics } = context;
  const { videoId } = output.facts;
  const parts = 'bytes' in work ? work.bytes : undefined;
  const source: JobSource = {
    videoId,
    sourceKey,
    sourceBytes,
    watermarkImage: imageOf(watermark),
    hashSource: false,
    isShared: true,
    parts,
  };
  const result = await withSource(source, context, (directory) =>
    metrics.inStage('encode', () => context.media.runTask({ plan, work, output }, directory, context)),
  );
  return { result, count: () => metrics.taskCompleted(secondsOf(work, plan)) };
}

async function runClaimedDerivation(
  { work, packaging, tracks, duration, startTimestamp, inputBytes }: ClaimedDerivation,
  output: TaskOutput,
  context: TryContext,
): Promise<Made> {
  // The command may have announced another derivation of the video.
  context.disk.changeTo(diskNeedOf(work, inputBytes, duration));
  const job = { work, packaging, tracks, duration, startTimestamp, output };
  const result = await withJobDirectory(output.facts.videoId, context, (directory) =>
    context.media.runDerivation(job, directory, context),
  );
  return { result, count: () => {} };
}

async function runClaimedClip(
  { work, plan, parent }: ClaimedClip,
  output: TaskOutput,
  context: TryContext,
): Promise<Made> {
  const contentKey = Buffer.from(parent.contentKey, 'base64');
  const job = { work, plan, parent: { ...parent, contentKey }, output };
  const result = await withJobDirectory(output.facts.videoId, context, (directory) =>
    context.media.runClip(job, directory, context),
  );
  return { result, count: () => {} };
}

async function runClaimedPlanning(
  { sourceKey, inputBytes: sourceBytes, work, watermark }: ClaimedPlanning,
  output: TaskOutput,
  context: TryContext,
  controlPlane: TaskClient,
): Promise<Made> {
  const { logger, metrics, signal } = context;
  const { videoId } = output.facts;
  const { hashSource, pieceSeconds, audioOnly, packaging, codecs, hdr, trim } = work;
  const watermarkImage = imageOf(watermark);
  const source: JobSource = {
    videoId,
    sourceKey,
    sourceBytes,
    watermarkImage,
    hashSource,
    isShared: false,
  };
  const storePlan: PlanningJob['storePlan'] = async (plan, sourceSha256) => {
    // Throws for an invalid plan: the control plane would refuse it each time.
    const request = storePlanRequest.parse({ ...output.facts, plan, sourceSha256 });
    const isStored = await repeatUntilResponse(() => controlPlane.storePlan(request), {
      videoId,
      logger,
      signal,
    });
    if (!isStored) throw new WorkObsoleteError('The try ended before its plan was stored');
  };
  const { plan, result } = await context.media.runPlanning(
    { source, pieceSeconds, audioOnly, packaging, codecs, hdr, trim, watermark, output, storePlan },
    context,
  );
  return result && { result, count: () => metrics.transcodeCompleted(plan.encode.duration) };
}

function imageOf(watermark: ClaimedWatermark | undefined): Uint8Array | undefined {
  return watermark && Buffer.from(watermark.image, 'base64');
}

/** Publishes the failure of a try, unless it is obsolete. */
async function fail(
  taskTry: TaskTry,
  claim: ClaimTaskResponse,
  error: unknown,
  { bus, logger, metrics, sources }: WorkerParts,
): Promise<void> {
  const isPlanning = claim.work.kind === 'plan';
  const facts = { ...taskTry, kind: claim.work.kind };
  if (error instanceof WorkObsoleteError) {
    if (isPlanning) metrics.transcodeAbandoned();
    logger.info('task.abandoned', facts);
    await sources.remove(taskTry.videoId);
    return;
  }
  const report = reportFailure(error);
  const { code, message } = report.outcome;
  activeSpan()?.fail(code);
  // Another try of a task would produce the same segments, which do not match the plan. The next attempt transcodes the video as a whole.
  const isUnplanned = !isPlanning && error instanceof InvalidSegmentError;
  const retryable = report.outcome.retryable && !isUnplanned;
  if (isPlanning) metrics.transcodeFailed(code);
  logger.log(isUnplanned ? 'warn' : report.level, 'task.failed', {
    ...facts,
    code,
    retryable,
    ...report.facts,
  });
  await publishResult(createMessage('task.failed', { ...taskTry, code, message, retryable }), bus);
}
