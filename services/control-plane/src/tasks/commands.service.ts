import { type CommandType, createMessage } from '@framelane/contracts/messages';
import { queueFor } from '@framelane/contracts/topology';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { COMMAND_LEASE_SECONDS, COMMANDS_IN_QUEUE, type DueWork } from '../background/due-loop.ts';
import { LONGEST_WAIT_SECONDS, MissingCommands, REISSUE_BATCH } from '../background/missing-commands.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import {
  claimDueCommands,
  countPublished,
  type DueCommand,
  findCommandBacklog,
  isOfPlan,
  makeAllCommandsDue,
  makeUnclaimedDue,
  type QueueLimits,
  recordPublished,
} from './commands.store.ts';

/** How long a command can be in transit to an idle engine. If the queue does not have it any more, an older command is lost. */
const IN_TRANSIT_SECONDS = 30;

/** The outbox of the commands of one type: publishes those that are due, and makes lost ones due again (ADR 24). */
export class Commands implements DueWork<DueCommand> {
  readonly type: CommandType;
  readonly name: `${CommandType}-commands`;
  readonly concurrency = 10;
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #logger: Logger;
  readonly #limits: QueueLimits;
  readonly #missing = new MissingCommands();

  constructor(
    type: CommandType,
    deps: { db: Database; bus: MessageBus; logger: Logger; workspaceMaxTasks: number | undefined },
  ) {
    this.type = type;
    this.name = `${type}-commands`;
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#logger = deps.logger;
    // The maximum is that of tasks of plans.
    const maxTasks = isOfPlan(type) ? deps.workspaceMaxTasks : undefined;
    this.#limits = { perWorkspace: COMMANDS_IN_QUEUE, maxTasks };
  }

  claim(limit: number): Promise<DueCommand[]> {
    const leaseSeconds = COMMAND_LEASE_SECONDS;
    return claimDueCommands(this.#db, this.type, { limit, leaseSeconds, ...this.#limits });
  }

  traceparent({ traceparent }: DueCommand): string | null {
    return traceparent;
  }

  /** Publishes a command. Without a confirm the command stays due and is published again. */
  async perform(command: DueCommand): Promise<void> {
    const { videoId, workspaceId, inputBytes, waitingSince } = command;
    const data = { videoId, workspaceId, inputBytes, waitingSince: waitingSince.toISOString() };
    await this.#bus.publish(createMessage(this.type, data));
    await recordPublished(this.#db, command);
  }

  /**
   * Makes as many commands due again as the queue lacks, those that were published first. They are lost, or an engine has dropped them. If one
   * of them still waits in the queue, the claim of an engine drops the duplicate, or claims another task of the video. Safe on several
   * instances.
   */
  async reissueLost(): Promise<void> {
    const published = await countPublished(this.#db, this.type);
    const waiting = published === 0 ? 0 : await this.#bus.countWaiting(queueFor(this.type));
    const lost = Math.min(this.#missing.count(published, waiting), REISSUE_BATCH);
    const makeDue = (seconds: number, limit: number) =>
      makeUnclaimedDue(this.#db, this.type, { seconds, limit });
    const count =
      (await makeDue(IN_TRANSIT_SECONDS, lost)) + (await makeDue(LONGEST_WAIT_SECONDS, REISSUE_BATCH));
    if (count > 0) this.#logger.warn('commands.reissued', { type: this.type, count });
  }

  /** Makes all commands due. Call it only while the queue is empty. */
  makeAllDue(): Promise<void> {
    return makeAllCommandsDue(this.#db, this.type);
  }

  /** The commands that are due and not published, except those that wait for room in the queue or for a running task to end. */
  backlog(): Promise<Backlog> {
    return findCommandBacklog(this.#db, this.type, this.#limits);
  }
}
