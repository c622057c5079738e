import { openContentKey } from '@framelane/contracts/content-key';
import { ENGINE_STOPPED } from '@framelane/contracts/failures';
import type {
  ClaimTaskRequest,
  ClaimTaskResponse,
  PlanAttemptRequest,
} from '@framelane/contracts/internal-api';
import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { Manifest } from '@framelane/contracts/manifest';
import type { MessageData, TaskTry } from '@framelane/contracts/messages';
import type { SealingKeys } from '@framelane/contracts/sealing';
import { taskFolder } from '@framelane/object-store/object-keys';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { type AttemptsService, ENGINE_LOST, type Failure } from '../attempts/attempts.service.ts';
import type { LeaseGrace } from '../background/lease-grace.ts';
import type { ReadTrack } from '../captions/captions.service.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { VideoRow } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { AttemptOutput } from '../playback/playback.service.ts';
import type { PreviewsService } from '../playback/previews.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { failureOfExpiry, moveAfterFailure } from '../videos/video-moves.ts';
import {
  type ClaimedTask,
  claimTask,
  countOpenTasks,
  dropCommand,
  findExpiredTries,
  findFailedTries,
  findPlan,
  findProgress,
  findResults,
  findTaskBacklog,
  findTries,
  hasClaimedTask,
  insertPlan,
  isPlanObsolete,
  isTryCurrent,
  makeCommandsDue,
  makeDroppedCommandDue,
  makeTaskDueAgain,
  mayClaim,
  renewTask,
  repeatTaskClaim,
  storeTaskResult,
} from './tasks.store.ts';

type TaskSettings = {
  leaseSeconds: number;
  retryBackoffSeconds: number;
  workspaceMaxTasks: number | undefined;
  contentKeys: SealingKeys;
};

/** What a claim has got, and what to log and count after the commit. */
type Claim = {
  claimed?: (ClaimedTask & { sourceKey: string; sourceBytes: number; sealedKey: string }) | undefined;
  report?: (() => void) | undefined;
};

/** The work was handed back: it ends, but has not failed. */
const HANDED_BACK: Failure = { ...ENGINE_LOST, kind: 'handed_back', outcome: 'handed_back' };

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

  /** Stores the plan of an open attempt. Idempotent. Throws 409 `attempt_not_current` if the attempt has ended. */
  async plan({ videoId, attempt, plan, sourceSha256 }: PlanAttemptRequest): Promise<void> {
    const isCurrent = await this.#lifecycle.transaction(async (trx) => {
      await this.#lifecycle.lock(trx, videoId);
      if ((await findPlan(trx, { videoId, attempt })) !== undefined) return true;
      const video = await this.#attempts.lockForResult(trx, videoId, attempt, { withTasks: false });
      if (video === undefined) return false;
      await insertPlan(trx, { videoId, attempt }, { plan, sourceSha256 });
      await makeCommandsDue(trx, { videoId, attempt }, COMMANDS_AT_ONCE);
      return true;
    });
    if (!isCurrent) {
      throw new Problem('attempt_not_current', `Attempt ${attempt} at video ${videoId} has ended.`);
    }
    this.#logger.info('attempt.planned', { videoId, attempt, tasks: plan.tasks.length });
  }

  /**
   * Starts the next try of a task of the video. A repeat of the claim gets the same try. Throws 409 `task_not_claimable` if none waits for an engine with this version of plans.
   * If the plan has an earlier version and no engine works on it, ends its attempt: the next attempt plans the video anew.
   */
  async claim(request: ClaimTaskRequest): Promise<ClaimTaskResponse> {
    const { leaseSeconds, contentKeys } = this.#settings;
    const { videoId } = request;
    const { claimed, report } = await this.#lifecycle.transaction(async (trx): Promise<Claim> => {
      const video = await this.#lifecycle.lock(trx, videoId);
      if (video?.status !== 'processing') return {};
      const { content_key: sealedKey, source_key: sourceKey, size: sourceBytes } = video;
      if (sealedKey === null || sourceKey === null || sourceBytes === null) return {};
      const { task, report } = await this.#assign(trx, video, request);
      return { claimed: task && { ...task, sourceKey, sourceBytes, sealedKey }, report };
    });
    report?.();
    if (claimed === undefined) {
      throw new Problem('task_not_claimable', `No task of video ${videoId} waits for an engine.`);
    }
    const { sealedKey, ...task } = claimed;
    const contentKey = (await openContentKey(sealedKey, contentKeys)).toString('base64');
    return { ...task, contentKey, leaseSeconds };
  }

  /** Starts a try of a task of a locked video, or finds the one that this claim has started. */
  async #assign(
    trx: Database,
    video: VideoRow,
    { planVersion, claimId }: ClaimTaskRequest,
  ): Promise<{ task?: ClaimedTask | undefined; report?: (() => void) | undefined }> {
    const { leaseSeconds, workspaceMaxTasks } = this.#settings;
    const videoId = video.id;
    if (claimId !== undefined && (await hasClaimedTask(trx, videoId, claimId))) {
      return { task: await repeatTaskClaim(trx, { videoId, claimId, leaseSeconds }) };
    }
    if (workspaceMaxTasks !== undefined && !(await mayClaim(trx, video.workspace_id, workspaceMaxTasks))) {
      await dropCommand(trx, videoId, DROPPED_SECONDS);
      return {};
    }
    const task = await claimTask(trx, { videoId, claimId, planVersion, leaseSeconds });
    if (task !== undefined) {
      await makeCommandsDue(trx, { videoId, attempt: task.attempt }, 1);
      return { task };
    }
    if (!(await isPlanObsolete(trx, { videoId, planVersion }))) return {};
    return { report: await this.#attempts.failAttempt(trx, video, HANDED_BACK) };
  }

  /** Whether an engine works on this try, and its video is not deleted. */
  isCurrent(taskTry: TaskTry): Promise<boolean> {
    return isTryCurrent(this.#db, taskTry);
  }

  /** Renews the lease of a current try, and raises the progress of its video. */
  async progress({
    fraction,
    startedRenditions = {},
    ...taskTry
  }: MessageData<'task.progress'>): Promise<void> {
    const { leaseSeconds } = this.#settings;
    const isCurrent = await renewTask(this.#db, taskTry, { leaseSeconds, fraction, startedRenditions });
    if (isCurrent) await this.#raiseProgress(taskTry);
  }

  /**
   * Stores the result of a current try. The result of any other try changes nothing. The last result makes
   * the video ready.
   */
  async complete({ result, ...taskTry }: MessageData<'task.completed'>): Promise<void> {
    const texts = await this.#textsOfLast(taskTry);
    const outcome = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#attempts.lockForResult(trx, taskTry.videoId, taskTry.attempt, {
        withTasks: true,
      });
      if (video === undefined) return undefined;
      const stored = await storeTaskResult(trx, taskTry, result);
      if (stored === undefined) return this.#ignore(trx, taskTry);
      await this.#makeNextDue(trx, video);
      return { ...stored, report: stored.left === 0 ? await this.#finish(trx, video, texts) : undefined };
    });
    if (outcome === undefined) return;
    const { kind, left, report } = outcome;
    this.#logger.info('task.completed', { ...taskTry, kind, left });
    this.#metrics.taskEnded(kind, 'completed');
    if (left > 0) await this.#raiseProgress(taskTry);
    report?.();
  }

  /**
   * Applies the failure of a current try. After a transient failure, the task gets another try. After any other failure, the video
   * is transcoded in one run, which uses another plan or finds out why the file cannot be transcoded.
   */
  async failed({ code, message, retryable, ...taskTry }: MessageData<'task.failed'>): Promise<void> {
    if (code === ENGINE_STOPPED) {
      await this.#end(taskTry, HANDED_BACK);
    } else {
      const kind = retryable ? 'transient' : 'permanent';
      await this.#end(taskTry, { kind, outcome: 'failed', code, message });
    }
  }

  /** The tasks that wait for an engine, and those that engines work on. */
  backlog(): Promise<{ waiting: Backlog; running: Backlog }> {
    return findTaskBacklog(this.#db);
  }

  /** Ends tries whose lease has expired. Safe on several instances. */
  async endExpired(): Promise<void> {
    if (!this.#leaseGrace.hasPassed(this.#settings.leaseSeconds)) return;
    await forEachSettled(await findExpiredTries(this.#db, BATCH), (taskTry) =>
      this.#end(taskTry, ENGINE_LOST),
    );
  }

  /** Ends every try. Call it only while no engine runs. */
  async endAllTries(): Promise<void> {
    for (const taskTry of await findTries(this.#db)) {
      await this.#end(taskTry, { ...ENGINE_LOST, kind: 'handed_back' });
    }
  }

  async #raiseProgress({ videoId, attempt }: TaskTry): Promise<void> {
    await this.#lifecycle.progress(videoId, await findProgress(this.#db, { videoId, attempt }));
    await this.#previews.offer({ videoId, attempt });
  }

  /**
   * Reads the text tracks of a plan before the transaction that stores the last result, so that no connection waits for it. Undefined if
   * more results are missing.
   */
  async #textsOfLast({ videoId, attempt }: TaskTry): Promise<ReadTrack[] | undefined> {
    if ((await countOpenTasks(this.#db, { videoId, attempt })) > 1) return undefined;
    const planned = await findPlan(this.#db, { videoId, attempt });
    return planned && this.#attempts.readTexts(videoId, planned.plan.facts.captions);
  }

  /**
   * Joins the results of all tasks. If they are inconsistent, the video is transcoded in one run. `texts` is undefined if the last two
   * results came at the same time.
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
      return this.#makeInOneRun(trx, video, { ...ENGINE_LOST, outcome: 'failed' });
    }
    const output = outputOf(results);
    return this.#attempts.completeAttempt(trx, video, {
      ...{ manifest, output, sourceSha256: planned.sourceSha256 },
      texts: texts ?? (await this.#attempts.readTexts(video.id, manifest.captions)),
    });
  }

  async #makeInOneRun(trx: Database, video: VideoRow, failure: Failure): Promise<() => void> {
    await this.#lifecycle.makeInOneRun(trx, video.id);
    return this.#attempts.failAttempt(trx, video, { ...failure, kind: 'handed_back' });
  }

  async #end(taskTry: TaskTry, failure: Failure): Promise<void> {
    const ended = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#attempts.lockForResult(trx, taskTry.videoId, taskTry.attempt, {
        withTasks: true,
      });
      if (video === undefined) return undefined;
      const task = await findFailedTries(trx, taskTry);
      if (task === undefined) return this.#ignore(trx, taskTry);
      const report = await this.#nextTry(trx, video, taskTry, task, failure);
      await this.#makeNextDue(trx, video);
      return { kind: task.kind, report };
    });
    if (ended === undefined) return;
    const { outcome, code } = failure;
    const reason = failure.kind === 'handed_back' ? {} : { code };
    this.#logger.info('task.ended', { ...taskTry, kind: ended.kind, outcome, ...reason });
    this.#metrics.taskEnded(ended.kind, outcome);
    ended.report?.();
  }

  async #nextTry(
    trx: Database,
    video: VideoRow,
    taskTry: TaskTry,
    before: { failedTries: number; unreported: number },
    failure: Failure,
  ): Promise<(() => void) | undefined> {
    if (failure.kind === 'permanent') return this.#makeInOneRun(trx, video, failure);
    const isExpired = failure.outcome === 'lease_expired';
    const kind =
      isExpired && failure.kind === 'transient' ? failureOfExpiry(before.unreported) : failure.kind;
    const next = moveAfterFailure(kind, before.failedTries, this.#settings.retryBackoffSeconds);
    // A new attempt would repeat the work of the other tasks, so the video fails.
    if (next.move === 'fail') {
      return this.#attempts.failAttempt(trx, video, { ...failure, kind: 'permanent' });
    }
    const { delaySeconds, failedAttempts: failedTries } = next;
    const unreported = isExpired ? before.unreported : 0;
    await makeTaskDueAgain(trx, taskTry, { delaySeconds, failedTries, unreported });
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

/** Where the segments and images of the tasks are. */
function outputOf(results: Awaited<ReturnType<typeof findResults>>): AttemptOutput {
  const parts = results.flatMap(({ task, try: tryNumber, result }) =>
    result.renditions.map(({ name, first }) => ({ name, start: first, folder: taskFolder(task, tryNumber) })),
  );
  const images = results.find(({ result }) => result.images !== undefined);
  return { parts, imageFolder: images ? taskFolder(images.task, images.try) : '' };
}
