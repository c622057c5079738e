import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { COMMAND_LEASE_SECONDS, COMMANDS_IN_QUEUE, type DueWork } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import {
  claimDueTaskCommands,
  type DueTaskCommand,
  findTaskCommandBacklog,
  hasCommandOfWaitingTask,
  makeAllTaskCommandsDue,
  makeCommandsOfWaitingTasksDue,
  type QueueLimits,
  recordTaskPublished,
} from './task-commands.store.ts';

/** How long a command can be in transit to an idle engine. If the queue is empty, an older command is lost. */
const IN_TRANSIT_SECONDS = 30;

/** A command is published again after this time in any case: a duplicate does no harm (ADR 52). */
const LONGEST_WAIT_SECONDS = 15 * 60;

/** The outbox of the commands for tasks: publishes those that are due, and makes lost ones due again. */
export class TaskCommands implements DueWork<DueTaskCommand> {
  readonly name = 'task-commands';
  readonly pollMs = 1000;
  readonly concurrency = 10;
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #logger: Logger;
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

  /** Makes lost commands due again. Safe on several instances. */
  async reissueLost(): Promise<void> {
    if (!(await hasCommandOfWaitingTask(this.#db, IN_TRANSIT_SECONDS))) return;
    const isEmpty = (await this.#bus.countWaiting('engine.tasks')) === 0;
    const count = await makeCommandsOfWaitingTasksDue(
      this.#db,
      isEmpty ? IN_TRANSIT_SECONDS : LONGEST_WAIT_SECONDS,
    );
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
