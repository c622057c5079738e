import type { ClaimAttemptResponse } from '@framelane/contracts/internal-api';
import { createMessage, type MessageData, type MessageOf } from '@framelane/contracts/messages';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { attemptPrefix } from '@framelane/object-store/object-keys';
import type { Reservation } from './disk-reservations.ts';
import { reportFailure } from './failure-report.ts';
import { leaveToOthers } from './insufficient-disk-space.ts';
import { diskNeed } from './job-source.ts';
import { claimWhenAvailable, publishResult, removeStored } from './results.ts';
import { runTranscodeJob, type TranscodeResult } from './transcode-job.ts';
import { WorkLease, WorkObsoleteError } from './work-lease.ts';
import type { WorkerParts } from './worker-parts.ts';

type Command = MessageData<'transcode'>;

/** Handles a command to transcode a video: claims an attempt, transcodes the video or plans its tasks, and publishes the result. */
export async function handleAttempt(
  command: Command,
  { redelivered }: { redelivered: boolean },
  worker: WorkerParts,
): Promise<void> {
  // The engine keeps the source if it has already run tasks of the video.
  const releaseSource = worker.sources.hold(command.videoId);
  let reservation: Reservation | null = null;
  try {
    reservation = await worker.disk.reserve(diskNeed(command, worker.sources));
    if (!reservation) {
      const { videoId, sourceBytes, waitingSince } = command;
      const waitedSeconds = (Date.now() - Date.parse(waitingSince)) / 1000;
      worker.logger.warn('transcode.insufficient_disk_space', { videoId, sourceBytes, waitedSeconds });
      leaveToOthers('attempt', redelivered, worker);
      return;
    }
    const claim = await claimAttempt(command, worker);
    if (claim) await runAttempt(command, claim, reservation, worker);
  } finally {
    reservation?.release();
    releaseSource();
  }
}

function claimAttempt({ videoId }: Command, { controlPlane, logger, stopping }: WorkerParts) {
  return claimWhenAvailable((claimId) => controlPlane.claimAttempt({ videoId, claimId }), {
    ...{ videoId, logger, signal: stopping },
  });
}

async function runAttempt(
  command: Command,
  claim: ClaimAttemptResponse,
  disk: Reservation,
  worker: WorkerParts,
): Promise<void> {
  const { logger, bus, controlPlane, metrics } = worker;
  const facts = { videoId: command.videoId, attempt: claim.attempt };
  const startedAt = Date.now();
  const report = (fraction: number) =>
    bus.publish(createMessage('transcode.progress', { ...facts, fraction }));
  const isCurrent = () => controlPlane.isAttemptCurrent(facts);
  const lease = new WorkLease({ leaseSeconds: claim.leaseSeconds, facts, report, isCurrent }, logger);
  // The first report says that this engine has received the claim.
  lease.reportSoon();
  logger.info('transcode.started', { ...facts, bytes: claim.sourceBytes });
  let completed: MessageOf<'transcode.completed'>;
  try {
    const result = await transcode(command, claim, lease, disk, worker);
    if ('plan' in result) {
      await storePlan(facts, result, lease, worker);
      return;
    }
    completed = createMessage('transcode.completed', { ...facts, ...result });
  } catch (error) {
    lease.stop();
    await removeStored(attemptPrefix(command.workspaceId, command.videoId, claim.attempt), facts, worker);
    await reportFailed(facts, error, worker);
    return;
  }
  lease.stop();
  await publishResult(completed, worker.bus);
  const { manifest } = completed.data;
  metrics.transcodeCompleted(manifest.duration);
  logger.info('transcode.completed', {
    ...facts,
    seconds: (Date.now() - startedAt) / 1000,
    duration: manifest.duration,
    renditions: manifest.renditions.map(({ name }) => name),
  });
}

function transcode(
  { workspaceId, videoId }: Command,
  claim: ClaimAttemptResponse,
  lease: WorkLease,
  disk: Reservation,
  { stopping, ...worker }: WorkerParts,
): Promise<TranscodeResult> {
  const {
    attempt,
    sourceKey,
    sourceBytes,
    hashSource = false,
    severalAudioTracks = false,
    pieceSeconds,
  } = claim;
  const contentKey = Buffer.from(claim.contentKey, 'base64');
  return runTranscodeJob(
    {
      ...{ workspaceId, videoId, attempt, sourceKey, sourceBytes, hashSource, isShared: false },
      ...{ acceptsSeveralAudioTracks: severalAudioTracks, pieceSeconds, contentKey },
    },
    {
      ...worker,
      disk,
      signal: AbortSignal.any([stopping, lease.signal]),
      onProgress: (fraction) => lease.progress(fraction),
    },
  );
}

/** Hands the plan of a long video to the control plane. From then on, its tasks have leases, and the attempt has none. */
async function storePlan(
  facts: { videoId: string; attempt: number },
  { plan, sourceSha256 }: { plan: TranscodePlan; sourceSha256?: string },
  lease: WorkLease,
  worker: WorkerParts,
): Promise<void> {
  const { controlPlane, logger, stopping } = worker;
  const hash = sourceSha256 === undefined ? {} : { sourceSha256 };
  const signal = AbortSignal.any([stopping, lease.signal]);
  try {
    const isPlanned = await claimWhenAvailable(() => controlPlane.planAttempt({ ...facts, plan, ...hash }), {
      ...{ videoId: facts.videoId, logger, signal },
    }).finally(() => lease.stop());
    if (!isPlanned) throw new WorkObsoleteError('The attempt ended before its plan was stored');
    logger.info('transcode.split_into_tasks', { ...facts, tasks: plan.tasks.length });
  } catch (error) {
    // No objects are removed: the plan may be stored, and other engines may be running its tasks.
    await reportFailed(facts, error, worker);
  }
}

/** Publishes the failure, unless the attempt is obsolete. */
async function reportFailed(
  facts: { videoId: string; attempt: number },
  error: unknown,
  worker: WorkerParts,
): Promise<void> {
  const { logger, metrics } = worker;
  if (error instanceof WorkObsoleteError) {
    metrics.transcodeAbandoned();
    await worker.sources.remove(facts.videoId);
    logger.info('transcode.abandoned', facts);
    return;
  }
  const report = reportFailure(error);
  const { code, retryable } = report.outcome;
  metrics.transcodeFailed(code);
  logger.log(report.level, 'transcode.failed', { ...facts, code, retryable, ...report.facts });
  await publishResult(createMessage('transcode.failed', { ...facts, ...report.outcome }), worker.bus);
}
