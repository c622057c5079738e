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
