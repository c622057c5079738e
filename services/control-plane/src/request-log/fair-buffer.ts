/** What waits in a buffer. */
export type Buffered = { workspaceId: string; bytes: number };

/** The most that waits of one workspace and of all. */
export type BufferLimits = { entriesOfWorkspace: number; bytesOfWorkspace: number; bytes: number };

/**
 * Entries that wait to be stored. A workspace with many requests loses its own entries, not those of others: while the buffer is full, the
 * workspace with most bytes in it loses its newest one.
 */
export class FairBuffer<T extends Buffered> {
  readonly #limits: BufferLimits;
  #queues = new Map<string, { entries: T[]; bytes: number }>();
  #bytes = 0;

  constructor(limits: BufferLimits) {
    this.#limits = limits;
  }

  /** Whether a workspace can have one more entry. Preparing one for nothing would cost time. */
  hasRoomFor(workspaceId: string): boolean {
    const { entries = [], bytes = 0 } = this.#queues.get(workspaceId) ?? {};
    const { entriesOfWorkspace, bytesOfWorkspace } = this.#limits;
    return entries.length < entriesOfWorkspace && bytes < bytesOfWorkspace;
  }

  /** Adds an entry. Returns how many entries were dropped, this one or others. */
  add(entry: T): number {
    if (!this.hasRoomFor(entry.workspaceId)) return 1;
    const queue = this.#queues.get(entry.workspaceId) ?? { entries: [], bytes: 0 };
    this.#queues.set(entry.workspaceId, queue);
    queue.entries.push(entry);
    this.#change(queue, entry.bytes);
    let dropped = 0;
    for (; this.#bytes > this.#limits.bytes; dropped += 1) this.#dropOne();
    return dropped;
  }

  /** Takes all entries out, by workspace. */
  takeAll(): [workspaceId: string, entries: T[]][] {
    const queues = [...this.#queues].map(([id, { entries }]): [string, T[]] => [id, entries]);
    this.#queues = new Map();
    this.#bytes = 0;
    return queues.filter(([, entries]) => entries.length > 0);
  }

  #dropOne(): void {
    let largest: { entries: T[]; bytes: number } | undefined;
    for (const queue of this.#queues.values()) {
      if (largest === undefined || queue.bytes > largest.bytes) largest = queue;
    }
    const dropped = largest?.entries.pop();
    if (largest !== undefined && dropped !== undefined) this.#change(largest, -dropped.bytes);
  }

  #change(queue: { bytes: number }, bytes: number): void {
    queue.bytes += bytes;
    this.#bytes += bytes;
  }
}
