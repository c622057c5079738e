import { ENGINE_STOPPED } from '@framelane/contracts/failures';
import type {
  ClaimTaskRequest,
  ClaimTaskResponse,
  StorePlanRequest,
} from '@framelane/contracts/internal-api';
import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { Manifest } from '@framelane/contracts/manifest';
import type { MessageData, TaskTry } from '@framelane/contracts/messages';
import { PLANNING_TASK, type TaskKind } from '@framelane/contracts/transcode-plan';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { storedSource } from '../artifacts/artifacts.service.ts';
import { type AttemptsService, reasonOf } from '../attempts/attempts.service.ts';
import type { LeaseGrace } from '../background/lease-grace.ts';
import type { ReadTrack } from '../captions/captions.service.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { VideoRow } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PreviewsService } from '../playback/previews.service.ts';
import type { AttemptEnd, VideoLifecycle } from '../videos/video-lifecycle.ts';
import {
  afterFailedTry,
  failureOfExpiry,
  type NextAttempt,
  type TryCounts,
  type TryFailure,
} from '../videos/video-moves.ts';
import { artifactsOf } from './artifacts-of-results.ts';
import {
  type ClaimedTry,
  claimTask,
  dropCommand,
  endPlanning,
  findExpiredTries,
  findFailedTries,
  findPlan,
  findPlannedTexts,
  findPlanningTry,
  findResults,
  findTaskBacklog,
  findTries,
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
} from './tasks.store.ts';

type TaskSettings = {
  leaseSeconds: number;
  retryBackoffSeconds: number;
  /** Seconds of a piece of a long video. */
  pieceSeconds: number;
  workspaceMaxTasks: number | undefined;
};

/** What a claim has got, and what to log and count after the commit. */
type Claim = { claimed?: ClaimTaskResponse | undefined; report?: (() => void) | undefined };

/** The engine has not renewed its lease. */
const LEASE_EXPIRED: AttemptEnd = {
  outcome: 'lease_expired',
  code: 'internal_error',
  message: 'The video could not be processed because of a fault on our side.',
};

/** The work was handed back: it ends, but has not failed. */
const HANDED_BACK: AttemptEnd = { ...LEASE_EXPIRED, outcome: 'handed_back' };

type FailedTask = TryCounts & { kind: TaskKind };

/** An attempt that begins at once, and whose first task has not failed. */
const ANEW: NextAttempt = { delaySeconds: 0, failedTries: 0, unreportedTries: 0 };

/** Tries ended in one run of `endExpired`. */
const BATCH = 100;

/** Commands of one video that wait in the queue. Few of them let engines take tasks of other videos in between. */
const COMMANDS_AT_ONCE = 2;

/**
 * After this time, a command is sent again that an engine dropped because the workspace had its maximum of running tasks. The end of a task
 * usually makes it due before.
 */
const DROPPED_SECONDS = 30;

/** Plans attempts, assigns their tasks, and applies the results. (attempt, task, try) fences off late results. */
export class TasksService {
  readonly #db: Database;
  readonly #lifecycle: VideoLifecycle;
  readonly #attempts: AttemptsService;
  readonly #previews: PreviewsService;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #leaseGrace: LeaseGrace;
  readonly #settings: TaskSettings;

  constructor(deps: {
    db: Database;
    lifecycle: VideoLifecycle;
    attempts: AttemptsService;
    previews: PreviewsService;
    logger: Logger;
    metrics: Metrics;
    leaseGrace: LeaseGrace;
    settings: TaskSettings;
  }) {
    this.#db = deps.db;
    this.#lifecycle = deps.lifecycle;
    this.#attempts = deps.attempts;
    this.#previews = deps.previews;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#leaseGrace = deps.leaseGrace;
    this.#settings = deps.settings;
  }

  /**
   * Stores the plan that a planning try has made. If the plan has tasks, the try ends and engines claim them; else the try goes on and makes
   * all outputs. Idempotent. Throws 409 `plan_not_current` if the try has ended.
   */
  async storePlan({ plan, sourceSha256, ...taskTry }: StorePlanRequest): Promise<void> {
    const { videoId, attempt } = taskTry;
    const outcome = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#attempts.lockForResult(trx, videoId, attempt);
      if (video === undefined) return 'not_current';
      const planning = await findPlanningTry(trx, taskTry);
      if (planning === undefined) return 'not_current';
      // The engine repeats a request whose response was lost. An earlier one can arrive late.
      if (planning.revision === plan.revision) return 'repeated';
      if (!planning.isCurrent || planning.revision > plan.revision) return 'not_current';
      await storePlan(trx, taskTry, { plan, sourceSha256 });
      if (plan.tasks.length === 0) {
        const { leaseSeconds } = this.#settings;
        await makeWhole(trx, taskTry, { frames: plan.encode.frames, leaseSeconds });
        if (plan.revision > 0) await this.#previews.withdraw(trx, videoId);
      } else {
        await endPlanning(trx, taskTry);
        await insertTasks(trx, taskTry, plan);
        await makeCommandsDue(trx, taskTry, COMMANDS_AT_ONCE);
      }
      return 'stored';
    });
    if (outcome === 'not_current') {
      throw new Problem('plan_not_current', `Attempt ${attempt} at video ${videoId} has ended.`);
    }
    if (outcome === 'repeated') return;
    this.#previews.planned({ videoId, attempt }, plan);
    this.#logger.info('attempt.planned', { videoId, attempt, tasks: plan.tasks.length });
    if (plan.tasks.length > 0) this.#metrics.taskEnded('plan', 'completed');
  }

  /**
   * Starts the next try of a task of the video. A repeat of the claim gets the same try. Throws 409 `task_not_claimable` if none waits for an
   * engine with this version of plans. If the plan has an earlier version and no engine works on it, ends its attempt: the next attempt plans
   * the video anew.
   */
  async claim(request: ClaimTaskRequest): Promise<ClaimTaskResponse> {
    const { videoId } = request;
    const { claimed, report } = await this.#lifecycle.transaction(async (trx): Promise<Claim> => {
      const video = await this.#lifecycle.lock(trx, videoId);
      return video?.status === 'processing' ? this.#claim(trx, video, request) : {};
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
    const { leaseSeconds, workspaceMaxTasks } = this.#settings;
    const videoId = video.id;
    if (await hasClaimed(trx, videoId, claimId)) {
      const repeated = await repeatTaskClaim(trx, { videoId, claimId, leaseSeconds });
      return {
        claimed:
          repeated && (await this.#describe(trx, video, repeated, await this.#attempts.contentKey(video))),
      };
    }
    if (command === 'task' && workspaceMaxTasks !== undefined) {
      if (!(await mayClaim(trx, video.workspace_id, workspaceMaxTasks))) {
        await dropCommand(trx, videoId, DROPPED_SECONDS);
        return {};
      }
    }
    const task = await claimTask(trx, { videoId, command, claimId, planVersion, leaseSeconds });
    if (task !== undefined) {
      const isFirst = task.task === PLANNING_TASK;
      if (!isFirst) await makeCommandsDue(trx, { videoId, attempt: task.attempt }, 1);
      const key = await (isFirst
        ? this.#attempts.start(trx, video, claimId)
        : this.#attempts.contentKey(video));
      return { claimed: await this.#describe(trx, video, task, key) };
    }
    if (!(await isPlanObsolete(trx, { videoId, planVersion }))) return {};
    return { report: await this.#attempts.repeat(trx, video, HANDED_BACK, ANEW) };
  }

  /** What the engine must know of a try that it has claimed. */
  async #describe(
    trx: Database,
    video: VideoRow,
    { plan, work, ...claimed }: ClaimedTry,
    contentKey: Buffer,
  ): Promise<ClaimTaskResponse> {
    const source = await storedSource(trx, video);
    if (source === undefined) throw new Error(`Video ${video.id} has no source`);
    const { leaseSeconds, pieceSeconds } = this.#settings;
    const common = {
      ...claimed,
      contentKey: contentKey.toString('base64'),
      sourceKey: source.key,
      sourceBytes: source.bytes,
      leaseSeconds,
    };
    if (plan !== null && work !== null) return { ...common, plan, work };
    const hashSource = video.sha256 === null;
    return {
      ...common,
      work: { kind: 'plan', hashSource, pieceSeconds: video.in_one_run ? null : pieceSeconds },
    };
  }

  /** Whether an engine works on this try, and its video is not deleted. */
  isCurrent(taskTry: TaskTry): Promise<boolean> {
    return isTryCurrent(this.#db, taskTry);
  }

  /** Renews the lease of a current try, and raises the progress of its video. */
  async progress({ fraction, startedRenditions, ...taskTry }: MessageData<'task.progress'>): Promise<void> {
    const { leaseSeconds } = this.#settings;
    const done = await renewTask(this.#db, taskTry, { leaseSeconds, fraction, startedRenditions });
    // While an engine plans, there is nothing to count or to offer.
    if (done === undefined || (taskTry.task === PLANNING_TASK && fraction === 0)) return;
    await this.#raiseProgress(taskTry, done);
  }

  /**
   * Stores the result of a current try. The result of any other try changes nothing. The last result makes
   * the video ready.
   */
  async complete({ result, ...taskTry }: MessageData<'task.completed'>): Promise<void> {
    const texts = await this.#textsOfLast(taskTry);
    const outcome = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#attempts.lockForResult(trx, taskTry.videoId, taskTry.attempt);
      if (video === undefined) return undefined;
      const stored = await storeTaskResult(trx, taskTry, result);
      if (stored === undefined) return this.#ignore(trx, taskTry);
      await this.#makeNextDue(trx, video);
      return { ...stored, report: stored.left === 0 ? await this.#finish(trx, video, texts) : undefined };
    });
    if (outcome === undefined) return;
    const { kind, left, done, report } = outcome;
    this.#logger.info('task.completed', { ...taskTry, kind, left });
    this.#metrics.taskEnded(kind, 'completed');
    if (left > 0) await this.#raiseProgress(taskTry, done);
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

  /** The tasks of plans that wait for an engine, and those that engines work on. */
  backlog(): Promise<{ waiting: Backlog; running: Backlog }> {
    return findTaskBacklog(this.#db);
  }

  /** Ends tries whose lease has expired. Safe on several instances. */
  async endExpired(): Promise<void> {
    if (!this.#leaseGrace.hasPassed(this.#settings.leaseSeconds)) return;
    await forEachSettled(await findExpiredTries(this.#db, BATCH), (taskTry) =>
      this.#end(taskTry, 'transient', LEASE_EXPIRED),
    );
  }

  /** Ends every try. Call it only while no engine runs. */
  async endAllTries(): Promise<void> {
    for (const taskTry of await findTries(this.#db)) {
      // The machine may have stopped because of the video: then its first task must not be repeated without end.
      await this.#end(taskTry, taskTry.task === PLANNING_TASK ? 'transient' : 'handed_back', LEASE_EXPIRED);
    }
  }

  async #raiseProgress({ videoId, attempt }: TaskTry, done: number): Promise<void> {
    await this.#lifecycle.progress(videoId, done);
    await this.#previews.offer({ videoId, attempt });
  }

  /**
   * Reads the text tracks of a plan before the transaction that stores the last result, so that no connection waits for it. Undefined if
   * more results are missing.
   */
  async #textsOfLast({ videoId, attempt }: TaskTry): Promise<ReadTrack[] | undefined> {
    const texts = await findPlannedTexts(this.#db, { videoId, attempt });
    return texts && this.#attempts.readTexts(videoId, texts);
  }

  /**
   * Joins the results of all tasks. If those of a plan are inconsistent, the next attempt transcodes the video as a whole. `texts` is undefined
   * if the last two results came at the same time.
   */
  async #finish(trx: Database, video: VideoRow, texts: ReadTrack[] | undefined): Promise<() => void> {
    const attempt = { videoId: video.id, attempt: video.attempt };
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
      this.#logger.error('attempt.tasks_inconsistent', { ...attempt, error });
      const end = { ...LEASE_EXPIRED, outcome: 'failed' } as const;
      const isWhole = planned.plan.tasks.length === 0;
      return isWhole ? this.#attempts.fail(trx, video, end) : this.#repeatAsWhole(trx, video, end);
    }
    return this.#attempts.complete(trx, video, {
      manifest,
      artifacts: artifactsOf({ attempt: video.attempt, revision: planned.plan.revision }, results),
      sourceSha256: planned.sourceSha256,
      texts: texts ?? (await this.#attempts.readTexts(video.id, manifest.captions)),
    });
  }

  /** Ends an attempt whose plan cannot be completed. The next one transcodes the video as a whole. */
  async #repeatAsWhole(trx: Database, video: VideoRow, end: AttemptEnd): Promise<() => void> {
    await this.#lifecycle.makeInOneRun(trx, video.id);
    return this.#attempts.repeat(trx, video, end, ANEW);
  }

  async #end(taskTry: TaskTry, failure: TryFailure, end: AttemptEnd): Promise<void> {
    const ended = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#attempts.lockForResult(trx, taskTry.videoId, taskTry.attempt);
      if (video === undefined) return undefined;
      const task = await findFailedTries(trx, taskTry);
      if (task === undefined) return this.#ignore(trx, taskTry);
      const report = await this.#nextTry(trx, video, taskTry, { task, failure, end });
      await this.#makeNextDue(trx, video);
      return { kind: task.kind, report };
    });
    if (ended === undefined) return;
    const { kind, report } = ended;
    this.#logger.info('task.ended', { ...taskTry, kind, outcome: end.outcome, ...reasonOf(end) });
    this.#metrics.taskEnded(kind, end.outcome);
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
    if (failure === 'permanent' && !isFirst) return this.#repeatAsWhole(trx, video, end);
    const isExpired = end.outcome === 'lease_expired';
    const counted = isExpired && failure === 'transient' ? failureOfExpiry(task.unreportedTries) : failure;
    const next = afterFailedTry(counted, task.failedTries, this.#settings.retryBackoffSeconds);
    // A new attempt would repeat the work of the other tasks, so the video fails.
    if (next === 'fail') return this.#attempts.fail(trx, video, end);
    const counts = { ...next, unreportedTries: isExpired ? task.unreportedTries : 0 };
    if (isFirst) return this.#attempts.repeat(trx, video, end, counts);
    await makeTaskDueAgain(trx, taskTry, counts);
    return undefined;
  }

  /**
   * While a workspace has its maximum of running tasks, engines drop its commands. So the end of a task makes one of them due before its
   * time.
   */
  async #makeNextDue(trx: Database, { workspace_id }: VideoRow): Promise<void> {
    if (this.#settings.workspaceMaxTasks !== undefined) await makeDroppedCommandDue(trx, workspace_id);
  }

  /** Ignores a report about a try that is not current. Objects that the video does not refer to are purged. */
  async #ignore(trx: Database, taskTry: TaskTry): Promise<undefined> {
    this.#logger.info('task.result_ignored', taskTry);
    await this.#lifecycle.discard(trx, taskTry.videoId);
  }
}
