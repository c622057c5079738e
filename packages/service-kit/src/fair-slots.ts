/** So much work waits for a slot that no more is accepted. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

type Waiting = { start: () => void; refuse: (error: QueueFullError) => void };

/**
 * Slots for work that participants, such as workspaces, share. A free slot goes to each participant with waiting work in turn, so work
 * waits for at most one work of every other participant before the next one of its own. If the queue is full, the newest work of the
 * participant with the most waiting work is refused.
 */
export class FairSlots {
  readonly #maxWaiting: number;
  readonly #queues = new Map<string, Waiting[]>();
  #free: number;
  #waiting = 0;

  constructor(slots: number, maxWaiting: number) {
    this.#free = slots;
    this.#maxWaiting = maxWaiting;
  }

  /** Runs the work in a slot. Throws a QueueFullError. */
  async run<T>(participant: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(participant);
    try {
      return await work();
    } finally {
      if (!this.#startNext()) this.#free += 1;
    }
  }

  #turn(participant: string): Promise<void> {
    const turn = new Promise<void>((start, refuse) => {
      const queue = this.#queues.get(participant);
      if (queue === undefined) this.#queues.set(participant, [{ start, refuse }]);
      else queue.push({ start, refuse });
    });
    this.#waiting += 1;
    if (this.#waiting > this.#maxWaiting) this.#refuseOne();
    return turn;
  }

  /** Whether there was work. */
  #startNext(): boolean {
    const [next] = this.#queues;
    if (next === undefined) return false;
    const [participant, queue] = next;
    const work = queue.shift();
    // The participant is last in the next round.
    this.#queues.delete(participant);
    if (queue.length > 0) this.#queues.set(participant, queue);
    this.#waiting -= 1;
    work?.start();
    return true;
  }

  #refuseOne(): void {
    const [first, ...others] = this.#queues;
    if (first === undefined) return;
    // Of several, the last one: it includes the participant that has just come.
    const [participant, queue] = others.reduce((a, b) => (b[1].length >= a[1].length ? b : a), first);
    const refused = queue.pop();
    if (queue.length === 0) this.#queues.delete(participant);
    this.#waiting -= 1;
    refused?.refuse(new QueueFullError('Too much work waits for a slot'));
  }
}
