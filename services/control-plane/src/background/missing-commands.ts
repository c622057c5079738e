/** A command is published again after this time in any case: messages of deleted videos and duplicates can hide that others are lost. */
export const LONGEST_WAIT_SECONDS = 24 * 3600;

/** Commands made due again in one run, which keeps its statement far below the time limit. */
export const REISSUE_BATCH = 1000;

/**
 * How many commands a queue has lost, from counts of the commands that it should have and of the messages that it has. RabbitMQ reports an
 * empty queue if its leader does not respond within 250 ms, so only what is missing at two counts in a row counts.
 */
export class MissingCommands {
  #before = 0;

  /** Returns the number of commands that were missing at this count and at the one before. */
  count(published: number, waiting: number): number {
    const missing = Math.max(0, published - waiting);
    const lost = Math.min(missing, this.#before);
    this.#before = missing;
    return lost;
  }
}
