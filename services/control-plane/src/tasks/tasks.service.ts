import { ENGINE_STOPPED } from '@framelane/contracts/failures';
import type {
  AudioOnlyRule,
  ClaimTaskRequest,
  ClaimTaskResponse,
  ReportNoRoomRequest,
  StorePlanRequest,
} from '@framelane/contracts/internal-api';
import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { Manifest } from '@framelane/contracts/manifest';
import {
  type CommandType,
  isDerivationCommand,
  type MessageData,
  type TaskTry,
} from '@framelane/contracts/messages';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import {
  alternativeOf,
  type Derivation,
  isDerivation,
  PLANNING_TASK,
  type Task,
  type TaskKind,
  type Work,
} from '@framelane/contracts/outputs/tasks';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { addArtifacts, storedSource } from '../artifacts/artifacts.service.ts';
import { type AttemptsService, reasonOf } from '../attempts/attempts.service.ts';
import type { LeaseGrace } from '../background/lease-grace.ts';
import type { CaptionsService, ReadTrack } from '../captions/captions.service.ts';
import { describeParent, encodedSeconds, findClipPlan, type PlannedClip } from '../clips/clip-work.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { VideoRow } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { CODEC_FAILED, failCodecs } from '../outputs/codecs.ts';
import { NO_DISK_SPACE } from '../outputs/derivation-failure.ts';
import {
  addOutputs,
  derivationFailed,
  type ReadOutputs,
  readOutputs,
  wantedDerivations,
} from '../outputs/outputs.ts';
import type { PlaybackService } from '../playback/playback.service.ts';
import type { PreviewsService } from '../playback/previews.service.ts';
import { mayStore } from '../quotas/quotas.service.ts';
import type { UsageService } from '../usage/usage.service.ts';
import { type AttemptEnd, CLIP_SOURCE_DELETED, type VideoLifecycle } from '../videos/video-lifecycle.ts';

import {
  afterFailedTry,
  failureOfExpiry,
  type NextAttempt,
  type TryCounts,
  type TryFailure,
} from '../videos/video-moves.ts';
import { watermarkFor } from '../watermarks/watermarks.service.ts';
import type { WebhookEventsService } from '../webhooks/events.service.ts';
import { artifactsOf } from './artifacts-of-results.ts';
import { addPiece, leaveOutCodec, leaveOutCodecs } from './codec-pieces.ts';
import { isOfPlan } from './commands.store.ts';
import { findStuck } from './derivations.store.ts';
import { beginDerivations, bytesStored, describeDerivation, endDerivations } from './derivations.ts';
import {
  type ClaimedTry,
  claimTask,
  deleteTasks,
  dropCommand,
  endPlanning,
  findExpiredTries,
  findPlan,
  findPlannedTexts,
  findPlanningTry,
  findResults,
  findTaskBacklog,
  findTries,
  findTryCounts,
  hasClaimed,
  insertTasks,
  isPlanObsolete,
  isTryCurrent,
  makeCommandsDue,
  makeDroppedCommandDue,
  makeTaskDueAgain,
  makeWhole,
  mayClaim,
  renewTask,
  repeatTaskClaim,
  storePlan,
  storeTaskResult,
  tasksOfPlan,
} from './tasks.store.ts';

type TaskSettings = {
  leaseSeconds: number;
  retryBackoffSeconds: number;
  /** Seconds of a piece of a long video. */
  pieceSeconds: number;
  workspaceMaxTasks: number | undefined;
  /** Whether files with sound alone are accepted by default. */
  acceptsAudioOnly: boolean;
};

/** What a claim has got, and what to log and count after the commit. */
type Claim = { claimed?: ClaimTaskResponse | undefined; report?: (() => void) | undefined };

/** The error of a video that fails although neither its file nor a report of an engine says why. */
const INTERNAL_ERROR = {
  code: 'internal_error',
  message: 'The video could not be processed because of a fault on our side.',
} as const;

/** The engine has not renewed the lease of its try. */
const LEASE_EXPIRED: AttemptEnd = { outcome: 'lease_expired', ...INTERNAL_ERROR };

/** The work ends without a failure: the engine stops, or no engine works on the plan, which has an earlier version. */
const HANDED_BACK: AttemptEnd = { outcome: 'handed_back', ...INTERNAL_ERROR };

/** All tasks are done, but their results do not match the plan or each other. */
const RESULTS_INCONSISTENT: AttemptEnd = { outcome: 'failed', ...INTERNAL_ERROR };

type FailedTask = TryCounts & { kind: TaskKind; work: Work | null };

/** An attempt that begins at once, and whose first task has not failed. */
const ANEW: NextAttempt = { delaySeconds: 0, failedTries: 0, unreportedTries: 0 };

/** Tries ended in one run of `endExpired`. */
const BATCH = 100;

/** Commands of one video that wait in the queue. Few of them let engines take tasks of other videos in between. */
const COMMANDS_AT_ONCE = 2;

/** A derivation that has waited for so long, and for which an engine has no room, ends. A disk may be full for hours, and more engines may start. */
const STUCK_SECONDS = 24 * 3600;

/**
 * After this time, a command is sent again that an engine dropped because the workspace had its maximum of running tasks. The end of a task
 * usually makes it due before.
 */
const DROPPED_SECONDS = 30;

type Deps = {
  db: Database;
  lifecycle: VideoLifecycle;
  attempts: AttemptsService;
  previews: PreviewsService;
  captions: CaptionsService;
  playback: PlaybackService;
  usage: UsageService;
  events: WebhookEventsService;
  logger: Logger;
  metrics: Metrics;
  leaseGrace: LeaseGrace;
  settings: TaskSettings;
};

/** Plans attempts, assigns their tasks, and applies the results. (attempt, task, try) fences off late results. */
export class TasksService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Stores the plan that a planning try has made. If the plan has tasks, the try ends and engines claim them; else the try goes on and makes
   * all outputs. Idempotent. Throws 409 `plan_not_current` if the try has ended.
   */
  async storePlan({ plan, sourceSha256, ...taskTry }: StorePlanRequest): Promise<void> {
    const { videoId, attempt } = taskTry;
    const outcome = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#deps.attempts.lockForResult(trx, taskTry);
      if (video === undefined) return 'not_current';
      const planning = await findPlanningTry(trx, taskTry);
      if (planning === undefined) return 'not_current';
      // The engine repeats a request whose response was lost. An earlier one can arrive late.
      if (planning.revision === plan.revision) return 'repeated';
      if (!planning.isCurrent || planning.revision > plan.revision) return 'not_current';
      await storePlan(trx, taskTry, { plan, sourceSha256 });
      const { tasks, encode } = plan;
      if (tasks.length === 0) {
        const { leaseSeconds } = this.#deps.settings;
        await makeWhole(trx, taskTry, { frames: encode.frames, leaseSeconds });
        if (plan.revision > 0) await this.#deps.previews.withdraw(trx, videoId);
      } else {
        await endPlanning(trx, taskTry);
        await this.#addTasks(trx, taskTry, 'task', { tasks, frames: encode.frames });
      }
      return 'stored';
    });
    if (outcome === 'not_current') {
      throw new Problem('plan_not_current', `Attempt ${attempt} at video ${videoId} has ended.`);
    }
    if (outcome === 'repeated') return;
    this.#deps.previews.planned({ videoId, attempt }, plan);
    this.#deps.logger.info('attempt.planned', { videoId, attempt, tasks: plan.tasks.length });
    if (plan.tasks.length > 0) this.#deps.metrics.taskEnded('plan', 'completed');
  }

  /**
   * Starts the next try of a task of the video. A repeat of the claim gets the same try. Throws 409 `task_not_claimable` if none waits for an
   * engine with this version of plans. If the plan has an earlier version and no engine works on it, ends its attempt: the next attempt plans
   * the video anew. Tasks of a ready video end if they have such a plan.
   */
  async claim(request: ClaimTaskRequest): Promise<ClaimTaskResponse> {
    const { videoId } = request;
    const { claimed, report } = await this.#deps.lifecycle.transaction(async (trx): Promise<Claim> => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      const canHaveTasks = video?.status === 'processing' || video?.status === 'ready';
      return canHaveTasks ? this.#claim(trx, video, request) : {};
    });
    report?.();
    if (claimed === undefined) {
      throw new Problem('task_not_claimable', `No task of video ${videoId} waits for an engine.`);
    }
    return claimed;
  }

  /** Starts a try of a task of a locked video, or finds the one that this claim has started. */
  async #claim(
    trx: Database,
    video: VideoRow,
    { command, planVersion, claimId }: ClaimTaskRequest,
  ): Promise<Claim> {
    const { leaseSeconds } = this.#deps.settings;
    const videoId = video.id;
    if (await hasClaimed(trx, videoId, claimId)) {
      const repeated = await repeatTaskClaim(trx, { videoId, claimId, leaseSeconds });
      return {
        claimed:
          repeated &&
          (await this.#describe(trx, video, repeated, await this.#deps.attempts.contentKey(video))),
      };
    }
    if (isOfPlan(command) && !(await this.#hasRoom(trx, video, command))) return {};
    const task = await claimTask(trx, { videoId, command, claimId, planVersion, leaseSeconds });
    if (task !== undefined) {
      const isFirst = task.task === PLANNING_TASK;
      if (!isFirst) await makeCommandsDue(trx, { videoId, attempt: task.attempt, command }, 1);
      const key = await (isFirst
        ? this.#deps.attempts.start(trx, video, claimId)
        : this.#deps.attempts.contentKey(video));
      const claimed = await this.#describe(trx, video, task, key);
      if (claimed !== undefined) return { claimed };
      return { report: await this.#deps.attempts.fail(trx, video, CLIP_SOURCE_DELETED) };
    }
    // Derivations and clips depend on no plan.
    if (
      command === 'clip' ||
      isDerivationCommand(command) ||
      !(await isPlanObsolete(trx, { videoId, planVersion }))
    )
      return {};
    if (video.status === 'ready') return { report: await this.#abandon(trx, video) };
    return { report: await this.#deps.attempts.repeat(trx, video, HANDED_BACK, ANEW) };
  }

  /** Whether the workspace may run another task of a plan. If not, the command is dropped. */
  async #hasRoom(trx: Database, { id, workspace_id }: VideoRow, command: CommandType): Promise<boolean> {
    const { workspaceMaxTasks } = this.#deps.settings;
    if (workspaceMaxTasks === undefined || (await mayClaim(trx, workspace_id, workspaceMaxTasks)))
      return true;
    await dropCommand(trx, { videoId: id, command }, DROPPED_SECONDS);
    return false;
  }

  /** What the engine must know of a try that it has claimed; undefined for a clip whose parent was deleted. */
  async #describe(
    trx: Database,
    video: VideoRow,
    { plan, work, inputBytes, ...claimed }: ClaimedTry,
    key: Buffer,
  ): Promise<ClaimTaskResponse | undefined> {
    const { leaseSeconds, pieceSeconds } = this.#deps.settings;
    const contentKey = key.toString('base64');
    if (work !== null && isDerivation(work)) {
      if (inputBytes === null) throw new Error(`A derivation of ${video.id} has no size`);
      const described = await describeDerivation(trx, video, work);
      return { ...claimed, ...described, contentKey, inputBytes, leaseSeconds };
    }
    const clip = claimed.task === PLANNING_TASK ? await findClipPlan(trx, video) : 'not_a_clip';
    if (clip === 'parent_deleted') return undefined;
    if (clip !== 'not_a_clip') return this.#describeClip(trx, clip, { ...claimed, contentKey, inputBytes });
    const source = await storedSource(trx, video);
    if (source === undefined) throw new Error(`Video ${video.id} has no source`);
    const { key: sourceKey, bytes } = source;
    const watermark = await watermarkFor(trx, video);
    const common = {
      ...claimed,
      contentKey,
      sourceKey,
      inputBytes: bytes,
      leaseSeconds,
      ...(watermark && { watermark }),
    };
    if (plan !== null && work !== null) return { ...common, plan, work };
    const hashSource = video.sha256 === null;
    return {
      ...common,
      work: {
        kind: 'plan',
        hashSource,
        pieceSeconds: video.as_a_whole ? null : pieceSeconds,
        audioOnly: this.#audioOnlyRule(video),
        packaging: video.packaging,
        codecs: video.codecs.map(({ codec }) => codec),
        hdr: video.hdr,
        ...(video.trim && { trim: video.trim }),
      },
    };
  }

  async #describeClip(
    trx: Database,
    clip: PlannedClip,
    { inputBytes, ...claimed }: Omit<ClaimedTry, 'plan' | 'work'> & { contentKey: string },
  ): Promise<ClaimTaskResponse> {
    if (inputBytes === null) throw new Error('A clip has no size');
    const { leaseSeconds } = this.#deps.settings;
    const { facts: _facts, tasks: _tasks, optionalTasks: _optional, ...plan } = clip.plan;
    const key = await this.#deps.attempts.contentKey(clip.parent);
    const parent = { ...(await describeParent(trx, clip)), contentKey: key.toString('base64') };
    return { ...claimed, inputBytes, leaseSeconds, work: clip.work, plan, parent };
  }

  #audioOnlyRule({ audio_only: requested, watermark }: VideoRow): AudioOnlyRule {
    // Sound alone has no picture to show it in.
    if (watermark !== null) return 'refused';
    if (requested !== null) return requested ? 'required' : 'refused';
    return this.#deps.settings.acceptsAudioOnly ? 'accepted' : 'refused';
  }

  /** Whether an engine works on this try, and its video is not deleted. */
  isCurrent(taskTry: TaskTry): Promise<boolean> {
    return isTryCurrent(this.#deps.db, taskTry);
  }

  /** Renews the lease of a current try, and raises the progress of its video. */
  async progress({ fraction, startedRenditions, ...taskTry }: MessageData<'task.progress'>): Promise<void> {
    const { leaseSeconds } = this.#deps.settings;
    const done = await renewTask(this.#deps.db, taskTry, { leaseSeconds, fraction, startedRenditions });
    // While an engine plans, there is nothing to count or to offer.
    if (done === undefined || (taskTry.task === PLANNING_TASK && fraction === 0)) return;
    await this.#raiseProgress(taskTry, done);
  }

  /**
   * Stores the result of a current try. The result of any other try changes nothing. The last result makes the video ready. A task that a
   * ready video did not wait for adds its output to the video.
   */
  async complete({ result, ...taskTry }: MessageData<'task.completed'>): Promise<void> {
    const texts = await this.#textsOfLast(taskTry);
    const read = await readOutputs(taskTry.videoId, result, this.#deps);
    const outcome = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#lock(trx, taskTry);
      if (video === undefined) return undefined;
      const stored = await storeTaskResult(trx, taskTry, result);
      if (stored === undefined) return this.#ignore(trx, taskTry);
      await this.#makeNextDue(trx, video);
      const isReady = video.status === 'ready';
      const codec = alternativeOf(stored.work);
      if (isReady && codec !== null) await addPiece(trx, video, taskTry, { result, codec }, this.#deps);
      else if (isReady) await this.#addOutput(trx, video, taskTry, { result, read });
      const isLast = !isReady && stored.left === 0;
      return { ...stored, isReady, report: isLast ? await this.#finish(trx, video, texts) : undefined };
    });
    if (outcome === undefined) return;
    const { kind, left, done, isReady, report } = outcome;
    this.#deps.logger.info('task.completed', { ...taskTry, kind, left });
    this.#deps.metrics.taskEnded(kind, 'completed');
    if (left > 0 && !isReady) await this.#raiseProgress(taskTry, done);
    report?.();
  }

  /**
   * Applies the failure of a current try: the task gets another try, or the video fails. After a permanent failure of a task of a plan, the
   * next attempt transcodes the video as a whole: it uses another plan or finds out why the file cannot be transcoded.
   */
  async failed({ code, message, retryable, ...taskTry }: MessageData<'task.failed'>): Promise<void> {
    if (code === ENGINE_STOPPED) await this.#end(taskTry, 'handed_back', HANDED_BACK);
    else
      await this.#end(taskTry, retryable ? 'transient' : 'permanent', { outcome: 'failed', code, message });
  }

  /**
   * Ends the derivations of a video that have waited for a day, and that read as much as one for which an engine has no room. Other work waits
   * until an engine has room.
   */
  async reportNoRoom(request: ReportNoRoomRequest): Promise<void> {
    const { videoId } = request;
    const ended = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      const stuck = video === undefined ? [] : await findStuck(trx, request, STUCK_SECONDS);
      if (video === undefined || stuck.length === 0) return stuck;
      for (const work of stuck) {
        await endDerivations(trx, video, work);
        await derivationFailed(trx, video, work, NO_DISK_SPACE, this.#deps);
      }
      // Of failed tries.
      await this.#deps.lifecycle.requestPurge(trx, videoId);
      return stuck;
    });
    for (const { kind } of ended)
      this.#deps.logger.warn('video.output_left_out', { videoId, kind, code: NO_DISK_SPACE.code });
  }

  /** The tasks of plans with this command that wait for an engine, and those that engines work on. */
  backlog(command: 'task' | 'background'): Promise<{ waiting: Backlog; running: Backlog }> {
    return findTaskBacklog(this.#deps.db, command);
  }

  /** Ends tries whose lease has expired. Safe on several instances. */
  async endExpired(): Promise<void> {
    if (!this.#deps.leaseGrace.hasPassed(this.#deps.settings.leaseSeconds)) return;
    await forEachSettled(await findExpiredTries(this.#deps.db, BATCH), (taskTry) =>
      this.#end(taskTry, 'transient', LEASE_EXPIRED),
    );
  }

  /** Ends every try, as if its lease had expired. Call it only while no engine runs. */
  async endAllTries(): Promise<void> {
    for (const { isAwaited, ...taskTry } of await findTries(this.#deps.db)) {
      // The machine may have stopped because of the task, which must not be repeated without end. Those of a plan are many, and all but one are innocent.
      await this.#end(taskTry, isAwaited ? 'handed_back' : 'transient', LEASE_EXPIRED);
    }
  }

  async #raiseProgress({ videoId, attempt }: TaskTry, done: number): Promise<void> {
    await this.#deps.lifecycle.progress(videoId, done);
    await this.#deps.previews.offer({ videoId, attempt });
  }

  /**
   * Reads the text tracks of a plan before the transaction that stores the last result, so that no connection waits for it. Undefined if
   * more results are missing.
   */
  async #textsOfLast({ videoId, attempt }: TaskTry): Promise<ReadTrack[] | undefined> {
    const texts = await findPlannedTexts(this.#deps.db, { videoId, attempt });
    return texts && this.#deps.attempts.readTexts(videoId, texts);
  }

  /**
   * Joins the results of all tasks. If those of a plan are inconsistent, the next attempt transcodes the video as a whole. `texts` is undefined
   * if the last two results came at the same time.
   */
  async #finish(trx: Database, video: VideoRow, texts: ReadTrack[] | undefined): Promise<() => void> {
    const attempt = { videoId: video.id, attempt: video.attempt };
    const clip = await findClipPlan(trx, video);
    if (clip === 'parent_deleted') return this.#deps.attempts.fail(trx, video, CLIP_SOURCE_DELETED);
    if (clip !== 'not_a_clip') await storePlan(trx, attempt, { plan: clip.plan, sourceSha256: undefined });
    const planned = await findPlan(trx, attempt);
    if (planned === undefined) throw new Error(`Attempt ${video.attempt} at ${video.id} has no plan`);
    const results = await findResults(trx, attempt);
    let manifest: Manifest;
    try {
      manifest = joinManifest(
        planned.plan,
        results.map(({ result }) => result),
      );
    } catch (error) {
      this.#deps.logger.error('attempt.tasks_inconsistent', { ...attempt, error });
      const isWhole = results.some(({ kind }) => kind === 'whole' || kind === 'clip');
      return isWhole
        ? this.#deps.attempts.fail(trx, video, RESULTS_INCONSISTENT)
        : this.#repeatAsWhole(trx, video, RESULTS_INCONSISTENT);
    }
    for (const { result } of results) await addOutputs(trx, video, result, { deps: this.#deps, read: {} });
    // The video waits for no other task.
    await deleteTasks(trx, attempt);
    const { optionalTasks, encode } = planned.plan;
    await this.#addTasks(trx, attempt, 'background', { tasks: optionalTasks, frames: encode.frames });
    const report = await this.#deps.attempts.complete(trx, video, {
      manifest,
      artifacts: artifactsOf({ attempt: video.attempt, revision: planned.plan.revision }, results),
      sourceSha256: planned.sourceSha256,
      transcodedSeconds: clip === 'not_a_clip' ? manifest.duration : encodedSeconds(clip),
      texts: texts ?? (await this.#deps.attempts.readTexts(video.id, manifest.captions)),
    });
    const hasRoomFor = async (works: readonly Derivation[]) =>
      mayStore(trx, video.workspace_id, await bytesStored(trx, video, works, manifest.duration));
    await beginDerivations(trx, video, await wantedDerivations(trx, video, hasRoomFor, this.#deps));
    await leaveOutCodecs(trx, video, planned.plan, this.#deps);
    return report;
  }

  /** Adds tasks of a plan to an attempt, and makes their first commands due. `frames` are those of the video. */
  async #addTasks(
    trx: Database,
    { videoId, attempt }: { videoId: string; attempt: number },
    command: 'task' | 'background',
    { tasks, frames }: { tasks: readonly Task[]; frames: number },
  ): Promise<void> {
    await insertTasks(trx, { videoId, attempt }, tasksOfPlan(tasks, frames, command));
    await makeCommandsDue(trx, { videoId, attempt, command }, COMMANDS_AT_ONCE);
  }

  /** Ends an attempt whose plan cannot be completed. The next one transcodes the video as a whole. */
  async #repeatAsWhole(trx: Database, video: VideoRow, end: AttemptEnd): Promise<() => void> {
    await this.#deps.lifecycle.transcodeAsWhole(trx, video.id);
    return this.#deps.attempts.repeat(trx, video, end, ANEW);
  }

  async #end(taskTry: TaskTry, failure: TryFailure, end: AttemptEnd): Promise<void> {
    const ended = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#lock(trx, taskTry);
      if (video === undefined) return undefined;
      const task = await findTryCounts(trx, taskTry);
      if (task === undefined) return this.#ignore(trx, taskTry);
      const report = await this.#nextTry(trx, video, taskTry, { task, failure, end });
      await this.#makeNextDue(trx, video);
      return { kind: task.kind, report };
    });
    if (ended === undefined) return;
    const { kind, report } = ended;
    this.#deps.logger.info('task.ended', { ...taskTry, kind, outcome: end.outcome, ...reasonOf(end) });
    this.#deps.metrics.taskEnded(kind, end.outcome);
    report?.();
  }

  /** Lets the task have another try, or fails the video. A failed first task ends its attempt, and the next attempt has the counts of the task. */
  async #nextTry(
    trx: Database,
    video: VideoRow,
    taskTry: TaskTry,
    { task, failure, end }: { task: FailedTask; failure: TryFailure; end: AttemptEnd },
  ): Promise<(() => void) | undefined> {
    const isFirst = taskTry.task === PLANNING_TASK;
    const isReady = video.status === 'ready';
    if (failure === 'permanent' && !isFirst && !isReady) return this.#repeatAsWhole(trx, video, end);
    const isExpired = end.outcome === 'lease_expired';
    const counted = isExpired && failure === 'transient' ? failureOfExpiry(task.unreportedTries) : failure;
    const next = afterFailedTry(counted, task.failedTries, this.#deps.settings.retryBackoffSeconds);
    if (next === 'fail' && isReady) return this.#leaveOut(trx, video, taskTry, { task, end });
    // A new attempt would repeat the work of the other tasks, so the video fails.
    if (next === 'fail') return this.#deps.attempts.fail(trx, video, end);
    const counts = { ...next, unreportedTries: isExpired ? task.unreportedTries : 0 };
    if (isFirst) return this.#deps.attempts.repeat(trx, video, end, counts);
    await makeTaskDueAgain(trx, taskTry, counts);
    return undefined;
  }

  /** Locks and returns the video if its tasks are those of this attempt: it is being transcoded, or is ready. */
  #lock(trx: Database, taskTry: TaskTry): Promise<VideoRow | undefined> {
    return this.#deps.attempts.lockForResult(trx, taskTry, ['processing', 'ready']);
  }

  /** Adds what a task has stored to a ready video. */
  async #addOutput(
    trx: Database,
    video: VideoRow,
    taskTry: TaskTry,
    { result, read }: { result: TaskResult; read: ReadOutputs },
  ): Promise<void> {
    // The revision of a plan is in the folder of the first task only.
    const place = { attempt: taskTry.attempt, revision: 0 };
    const hasReplaced = await addArtifacts(trx, video.id, artifactsOf(place, [{ ...taskTry, result }]));
    await addOutputs(trx, video, result, { deps: this.#deps, read });
    // Of a try that has failed, or of a file that this one replaces.
    const mayLeaveObjects = taskTry.try > 1 || hasReplaced;
    await this.#endTask(trx, video, taskTry, { mayLeaveObjects });
  }

  /** Ends a task of a ready video that has failed for good. The video stays as it is. */
  async #leaveOut(
    trx: Database,
    video: VideoRow,
    taskTry: TaskTry,
    { task: { kind, work }, end }: { task: FailedTask; end: AttemptEnd },
  ): Promise<() => void> {
    const codec = alternativeOf(work);
    if (codec !== null) {
      await leaveOutCodec(trx, video, codec, CODEC_FAILED, this.#deps);
      return () => {};
    }
    await this.#endTask(trx, video, taskTry, { mayLeaveObjects: true });
    if (work !== null && isDerivation(work)) await derivationFailed(trx, video, work, end, this.#deps);
    return () => this.#deps.logger.warn('video.output_left_out', { ...taskTry, kind, code: end.code });
  }

  /** Ends all tasks of a ready video that read its source, if it has any: they cannot be done any more. */
  async #abandon(trx: Database, video: VideoRow): Promise<() => void> {
    const attempt = { videoId: video.id, attempt: video.attempt };
    const tasks = await this.#endTask(trx, video, attempt, { mayLeaveObjects: true });
    if (tasks > 0) await failCodecs(trx, video, CODEC_FAILED, this.#deps);
    return () => {
      if (tasks > 0) this.#deps.logger.warn('video.output_left_out', { ...attempt, tasks });
    };
  }

  /**
   * Deletes a task of a ready video, or all. What they have held up follows: the deletion of the source, and the purge of failed tries. Resolves
   * with the number of tasks.
   */
  async #endTask(
    trx: Database,
    video: VideoRow,
    task: { videoId: string; attempt: number; task?: number },
    { mayLeaveObjects }: { mayLeaveObjects: boolean },
  ): Promise<number> {
    const deleted = await deleteTasks(trx, task);
    if (deleted === 0) return 0;
    await this.#deps.lifecycle.applyKeepSource(trx, video.id);
    if (mayLeaveObjects) await this.#deps.lifecycle.requestPurge(trx, video.id);
    return deleted;
  }

  /**
   * While a workspace has its maximum of running tasks, engines drop its commands. So the end of a task makes one of them due before its
   * time.
   */
  async #makeNextDue(trx: Database, { workspace_id }: VideoRow): Promise<void> {
    if (this.#deps.settings.workspaceMaxTasks !== undefined) await makeDroppedCommandDue(trx, workspace_id);
  }

  /** Ignores a report about a try that is not current. Objects that the video does not refer to are purged. */
  async #ignore(trx: Database, taskTry: TaskTry): Promise<undefined> {
    this.#deps.logger.info('task.result_ignored', taskTry);
    await this.#deps.lifecycle.requestPurge(trx, taskTry.videoId);
  }
}
