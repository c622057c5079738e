import { createMessage } from '@framelane/contracts/messages';
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
  makeAllDue,
  makeUnclaimedDue,
  recordPublished,
} from './commands.store.ts';

/** A command that the queue does not have any more is published again after this time: it is lost, or an engine has dropped it. */
const LOST_SECONDS = 15 * 60;

/** The outbox of transcode commands: publishes those that are due, and makes lost ones due again (ADR 24). */
export class TranscodeCommands implements DueWork<DueCommand> {
  readonly name = 'transcode-commands';
  readonly pollMs = 1000;
  readonly concurrency = 10;
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #logger: Logger;
  readonly #missing = new MissingCommands();

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
   * Makes as many commands due again as the queue lacks, those that were published first. If one of them still waits in the queue, the claim
   * of an engine drops the duplicate. Safe on several instances.
   */
  async reissueLost(): Promise<void> {
    const published = await countPublished(this.#db);
    const waiting = published === 0 ? 0 : await this.#bus.countWaiting('engine.commands');
    const lost = Math.min(this.#missing.count(published, waiting), REISSUE_BATCH);
    const reissued = [
      ...(await makeUnclaimedDue(this.#db, LOST_SECONDS, lost)),
      ...(await makeUnclaimedDue(this.#db, LONGEST_WAIT_SECONDS, REISSUE_BATCH)),
    ];
    for (const videoId of reissued) this.#logger.warn('transcode.command_reissued', { videoId });
  }

  /** Makes the commands of all videos that wait for an engine due. Call it only while the queue is empty. */
  makeAllDue(): Promise<void> {
    return makeAllDue(this.#db);
  }

  /** The commands that are due and not published, except those that wait for room in the queue. */
  backlog(): Promise<Backlog> {
    return findCommandBacklog(this.#db, COMMANDS_IN_QUEUE);
  }
}
