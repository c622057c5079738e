import { type CommandType, createMessage } from '@framelane/contracts/messages';
import { queueFor } from '@framelane/contracts/topology';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { COMMAND_LEASE_SECONDS, COMMANDS_IN_QUEUE, type DueWork } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import {
  claimDueCommands,
  type DueCommand,
  findCommandBacklog,
  hasCommandOfWaitingTask,
  makeAllCommandsDue,
  makeCommandsOfWaitingTasksDue,
  recordPublished,
} from './commands.store.ts';

/** How long a command can be in transit to an idle engine. If the queue is empty, an older command is lost. */
const IN_TRANSIT_SECONDS = 30;

/** A command is published again after this time in any case: a duplicate does no harm (ADR 52). */
const LONGEST_WAIT_SECONDS = 15 * 60;

/** The outbox of the commands of one type: publishes those that are due, and makes lost ones due again (ADR 24). */
export class Commands implements DueWork<DueCommand> {
  readonly type: CommandType;
  readonly name: `${CommandType}-commands`;
  readonly pollMs = 1000;
  readonly concurrency = 10;
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #logger: Logger;

  constructor(type: CommandType, deps: { db: Database; bus: MessageBus; logger: Logger }) {
    this.type = type;
    this.name = `${type}-commands`;
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#logger = deps.logger;
  }

  claim(limit: number): Promise<DueCommand[]> {
    const leaseSeconds = COMMAND_LEASE_SECONDS;
    return claimDueCommands(this.#db, this.type, { limit, perWorkspace: COMMANDS_IN_QUEUE, leaseSeconds });
  }

  /** Publishes a command. Without a confirm the command stays due and is published again. */
  async perform(command: DueCommand): Promise<void> {
    const { videoId, workspaceId, sourceBytes, waitingSince } = command;
    const data = { videoId, workspaceId, sourceBytes, waitingSince: waitingSince.toISOString() };
    await this.#bus.publish(createMessage(this.type, data));
    await recordPublished(this.#db, command);
  }

  /**
   * Makes commands due again that are lost or that an engine has dropped. If a command still waits in the queue, the claim of one of the two
   * drops the other. Safe on several instances.
   */
  async reissueLost(): Promise<void> {
    if (!(await hasCommandOfWaitingTask(this.#db, this.type, IN_TRANSIT_SECONDS))) return;
    const isEmpty = (await this.#bus.countWaiting(queueFor(this.type))) === 0;
    const seconds = isEmpty ? IN_TRANSIT_SECONDS : LONGEST_WAIT_SECONDS;
    const count = await makeCommandsOfWaitingTasksDue(this.#db, this.type, seconds);
    if (count > 0) this.#logger.warn('commands.reissued', { type: this.type, count });
  }

  /** Makes all commands due. Call it only while the queue is empty. */
  makeAllDue(): Promise<void> {
    return makeAllCommandsDue(this.#db, this.type);
  }

  /** The commands that are due and not published, except those that wait for room in the queue. */
  backlog(): Promise<Backlog> {
    return findCommandBacklog(this.#db, this.type, COMMANDS_IN_QUEUE);
  }
}
