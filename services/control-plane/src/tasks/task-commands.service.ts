import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { COMMAND_LEASE_SECONDS, COMMANDS_IN_QUEUE, type DueWork } from '../background/due-loop.ts';
import { LONGEST_WAIT_SECONDS, MissingCommands, REISSUE_BATCH } from '../background/missing-commands.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import {
  claimDueTaskCommands,
  countPublishedTasks,
  type DueTaskCommand,
  findTaskCommandBacklog,
  makeAllTaskCommandsDue,
  makeUnclaimedTasksDue,
  type QueueLimits,
  recordTaskPublished,
} from './task-commands.store.ts';

/** How long a command can be in transit to an idle engine. If the queue does not have it any more, an older command is lost. */
const IN_TRANSIT_SECONDS = 30;

/** The outbox of the commands for tasks: publishes those that are due, and makes lost ones due again. */
export class TaskCommands implements DueWork<DueTaskCommand> {
  readonly name = 'task-commands';
  readonly pollMs = 1000;
  readonly concurrency = 10;
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #logger: Logger;
  readonly #missing = new MissingCommands();
  readonly #limits: QueueLimits;

  /** `maxTasks` is the maximum of running tasks of a workspace. */
  constructor(deps: { db: Database; bus: MessageBus; logger: Logger; maxTasks: number | undefined }) {
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#logger = deps.logger;
    this.#limits = { perWorkspace: COMMANDS_IN_QUEUE, maxTasks: deps.maxTasks };
  }

  claim(limit: number): Promise<DueTaskCommand[]> {
    const leaseSeconds = COMMAND_LEASE_SECONDS;
    return claimDueTaskCommands(this.#db, { limit, leaseSeconds, ...this.#limits });
  }

  /** Publishes a command. Without a confirm the command stays due and is published again. */
  async perform(command: DueTaskCommand): Promise<void> {
    const { videoId, workspaceId, sourceBytes } = command;
    await this.#bus.publish(createMessage('task', { videoId, workspaceId, sourceBytes }));
    await recordTaskPublished(this.#db, command);
  }

  /**
   * Makes as many commands due again as the queue lacks, those that were published first. If one of them still waits in the queue, its engine
   * claims another task of the video. Safe on several instances.
   */
  async reissueLost(): Promise<void> {
    const published = await countPublishedTasks(this.#db);
    const waiting = published === 0 ? 0 : await this.#bus.countWaiting('engine.tasks');
    const lost = Math.min(this.#missing.count(published, waiting), REISSUE_BATCH);
    const count =
      (await makeUnclaimedTasksDue(this.#db, IN_TRANSIT_SECONDS, lost)) +
      (await makeUnclaimedTasksDue(this.#db, LONGEST_WAIT_SECONDS, REISSUE_BATCH));
    if (count > 0) this.#logger.warn('task.commands_reissued', { count });
  }

  /** Makes all commands due. Call it only while the queue is empty. */
  makeAllDue(): Promise<void> {
    return makeAllTaskCommandsDue(this.#db);
  }

  /** The commands that are due and not published, except those that wait for room in the queue or for a running task to end. */
  backlog(): Promise<Backlog> {
    return findTaskCommandBacklog(this.#db, this.#limits);
  }
}
