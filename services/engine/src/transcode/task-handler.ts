import type { ClaimTaskResponse } from '@framelane/contracts/internal-api';
import { createMessage, type MessageData, type MessageOf } from '@framelane/contracts/messages';
import type { RenditionName } from '@framelane/contracts/renditions';
import { PLAN_VERSION, type StartedRenditions, type TaskResult } from '@framelane/contracts/transcode-plan';
import { outputPrefix, taskFolder } from '@framelane/object-store/object-keys';
import { InvalidSegmentError } from '../output/segment-info.ts';
import { toNumber } from '../source/frame-rate.ts';
import type { Reservation } from './disk-reservations.ts';
import { reportFailure } from './failure-report.ts';
import { leaveToOthers } from './insufficient-disk-space.ts';
import { diskNeed, withSource } from './job-source.ts';
import { claimWhenAvailable, publishResult, removeStored } from './results.ts';
import { runTask, type TaskJob } from './task-job.ts';
import { WorkLease, WorkObsoleteError } from './work-lease.ts';
import type { WorkerParts } from './worker-parts.ts';

type Command = MessageData<'task'>;

/** Handles a command for a long video: claims one of its tasks, runs it, and publishes the result. */
export async function handleTask(
  command: Command,
  { redelivered }: { redelivered: boolean },
  worker: WorkerParts,
): Promise<void> {
  const release = worker.sources.hold(command.videoId);
  try {
    await reserveAndRun(command, redelivered, worker);
  } finally {
    release();
  }
}

async function reserveAndRun(command: Command, redelivered: boolean, worker: WorkerParts): Promise<void> {
  const { videoId, sourceBytes } = command;
  const { controlPlane, disk, sources, logger, stopping } = worker;
  // Reserves for the whole source: only the claim shows which part the task needs.
  const reservation = await disk.reserve(diskNeed(command, sources));
  if (!reservation) {
    logger.warn('task.insufficient_disk_space', { videoId, sourceBytes });
    leaveToOthers('task', redelivered, worker);
    return;
  }
  try {
    const claim = await claimWhenAvailable(
      (claimId) => controlPlane.claimTask({ videoId, planVersion: PLAN_VERSION, claimId }),
      {
        ...{ videoId, logger, signal: stopping },
      },
    );
    if (claim) await worker.metrics.inTask(() => runTry(command, claim, reservation, worker));
  } finally {
    reservation.release();
  }
}

async function runTry(
  command: Command,
  claim: ClaimTaskResponse,
  disk: Reservation,
  worker: WorkerParts,
): Promise<void> {
  const { logger, bus, controlPlane } = worker;
  const { attempt, task, try: tryNumber, work } = claim;
  const taskTry = { videoId: command.videoId, attempt, task, try: tryNumber };
  const facts = { ...taskTry, kind: work.kind };
  const startedAt = Date.now();
  const startedRenditions: StartedRenditions = {};
  const report = (fraction: number) =>
    bus.publish(createMessage('task.progress', { ...taskTry, fraction, startedRenditions }));
  const isCurrent = () => controlPlane.isTaskCurrent(taskTry);
  const lease = new WorkLease({ leaseSeconds: claim.leaseSeconds, facts, report, isCurrent }, logger);
  const output = { ...command, attempt, folder: taskFolder(task, tryNumber) };
  // The first report says that this engine has received the claim.
  lease.reportSoon();
  logger.info('task.started', facts);
  let completed: MessageOf<'task.completed'>;
  try {
    const prefix = outputPrefix(output);
    const onRenditionStarted = (rendition: RenditionName, codecs: string) => {
      startedRenditions[rendition] = codecs;
      lease.reportSoon();
    };
    const result = await run(claim, command.videoId, { prefix, onRenditionStarted }, lease, disk, worker);
    completed = createMessage('task.completed', { ...taskTry, result });
  } catch (error) {
    lease.stop();
    await removeStored(outputPrefix(output), facts, worker);
    await fail(taskTry, error, worker);
    return;
  }
  lease.stop();
  logger.info('task.finished', { ...facts, seconds: (Date.now() - startedAt) / 1000 });
  await publishResult(completed, worker.bus);
  worker.metrics.taskCompleted(mediaSeconds(claim));
}

/** Seconds of video that count for a task. To count each second once, a passthrough counts only if the video has no pieces. */
function mediaSeconds({ work, plan: { encode } }: ClaimTaskResponse): number {
  if (work.kind === 'piece') return work.frames / toNumber(encode.frameRate);
  return work.kind === 'passthrough' && encode.rungs.length === 1 ? encode.duration : 0;
}

function run(
  claim: ClaimTaskResponse,
  videoId: string,
  output: Pick<TaskJob, 'prefix' | 'onRenditionStarted'>,
  lease: WorkLease,
  disk: Reservation,
  { stopping, ...worker }: WorkerParts,
): Promise<TaskResult> {
  const { sourceKey, sourceBytes, attempt, task, try: tryNumber, plan, work } = claim;
  const facts = { videoId, attempt, task, try: tryNumber };
  const contentKey = Buffer.from(claim.contentKey, 'base64');
  const context = {
    ...worker,
    disk,
    signal: AbortSignal.any([stopping, lease.signal]),
    onProgress: (fraction: number) => lease.progress(fraction),
  };
  const parts = work.kind === 'piece' ? work.bytes : undefined;
  const source = { videoId, sourceKey, sourceBytes, hashSource: false, isShared: true, parts };
  return withSource(source, context, (directory) =>
    worker.metrics.inStage('encode', () =>
      runTask({ facts, plan, work, contentKey, ...output }, directory, context),
    ),
  );
}

/** Publishes the failure of a try, unless it is obsolete. */
async function fail(
  taskTry: Omit<MessageData<'task.progress'>, 'fraction'>,
  error: unknown,
  worker: WorkerParts,
): Promise<void> {
  const { logger } = worker;
  if (error instanceof WorkObsoleteError) {
    logger.info('task.abandoned', taskTry);
    await worker.sources.remove(taskTry.videoId);
    return;
  }
  const { outcome, level, facts } = reportFailure(error);
  const { code, message } = outcome;
  // Another try would produce the same segments, which do not match the plan. The next attempt transcodes the video in one run.
  const isUnplanned = error instanceof InvalidSegmentError;
  const retryable = outcome.retryable && !isUnplanned;
  logger.log(isUnplanned ? 'warn' : level, 'task.failed', { ...taskTry, code, retryable, ...facts });
  await publishResult(createMessage('task.failed', { ...taskTry, code, message, retryable }), worker.bus);
}
