import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { COMMAND_LEASE_SECONDS, COMMANDS_IN_QUEUE, type DueWork } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import {
  claimDueCommands,
  type DueCommand,
  findCommandBacklog,
  findLatestClaimedWaitingSince,
  findUnclaimed,
  makeAllDue,
  makeDueAgain,
  recordPublished,
  type UnclaimedCommand,
} from './commands.store.ts';

/**
 * How long a published command can be in transit: not yet in the queue, or held by an engine that cannot reach the control
 * plane. Afterwards it is either in the queue or lost.
 */
const COMMAND_IN_TRANSIT_SECONDS = 15 * 60;

/** The outbox of transcode commands: publishes those that are due, and makes lost ones due again (ADR 24). */
export class TranscodeCommands implements DueWork<DueCommand> {
  readonly name = 'transcode-commands';
  readonly pollMs = 1000;
  readonly concurrency = 10;
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #logger: Logger;

  constructor(deps: { db: Database; bus: MessageBus; logger: Logger }) {
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#logger = deps.logger;
  }

  claim(limit: number): Promise<DueCommand[]> {
    const leaseSeconds = COMMAND_LEASE_SECONDS;
    return claimDueCommands(this.#db, { limit, perWorkspace: COMMANDS_IN_QUEUE, leaseSeconds });
  }

  /** Publishes a command. Without a confirm the command stays due and is published again: engines ignore the second one. */
  async perform(command: DueCommand): Promise<void> {
    const { videoId, workspaceId, sourceBytes, waitingSince } = command;
    const data = { videoId, workspaceId, sourceBytes, waitingSince: waitingSince.toISOString() };
    await this.#bus.publish(createMessage('transcode', data));
    await recordPublished(this.#db, command);
  }

  /**
   * Makes lost commands due again. A command that still waits in the queue is not lost. An unclaimed command counts as
   * lost when the queue is empty, or when an engine has claimed a video whose command was published much later. Safe on
   * several instances.
   */
  async reissueLost(): Promise<void> {
    const unclaimed = await findUnclaimed(this.#db, COMMAND_IN_TRANSIT_SECONDS);
    if (unclaimed.length === 0) return;
    const latestWaitingSince = await findLatestClaimedWaitingSince(this.#db);
    const { overtaken = [], others = [] } = Object.groupBy(unclaimed, (command) =>
      isOvertaken(command, latestWaitingSince) ? 'overtaken' : 'others',
    );
    await this.#makeDueAgain(overtaken);
    if (others.length > 0 && (await this.#bus.countWaiting('engine.commands')) === 0) {
      await this.#makeDueAgain(others);
    }
  }

  /** Makes the commands of all videos that wait for an engine due. Call it only while the queue is empty. */
  makeAllDue(): Promise<void> {
    return makeAllDue(this.#db);
  }

  /** The commands that are due and not published, except those that wait for room in the queue. */
  backlog(): Promise<Backlog> {
    return findCommandBacklog(this.#db, COMMANDS_IN_QUEUE);
  }

  async #makeDueAgain(commands: UnclaimedCommand[]): Promise<void> {
    await forEachSettled(commands, async (command) => {
      if (await makeDueAgain(this.#db, command)) {
        this.#logger.warn('transcode.command_reissued', { videoId: command.videoId });
      }
    });
  }
}

/**
 * Whether an engine has claimed a video that began to wait so long after this command was published that the queue must have
 * delivered this command first.
 */
function isOvertaken({ publishedAt }: UnclaimedCommand, latestWaitingSince: Date | null): boolean {
  if (latestWaitingSince === null) return false;
  return latestWaitingSince.getTime() - publishedAt.getTime() >= COMMAND_IN_TRANSIT_SECONDS * 1000;
}
