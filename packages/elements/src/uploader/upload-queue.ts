import type { Ticket } from './request-ticket.ts';
import {
  identityOf,
  isUnfinished,
  nextToStart,
  reduce,
  type UploadAction,
  type UploadItem,
} from './upload-items.ts';

/** What happens while a file is sent. */
export type SendHandlers = {
  signal: AbortSignal;
  onTicket: (ticket: Ticket) => void;
  onProgress: (sent: number) => void;
};

/** Sends a file, or continues to send it. Resolves when it has arrived. */
export type Send = (file: File, handlers: SendHandlers) => Promise<{ videoId: string }>;

export type QueueHandlers = {
  onChange: (items: readonly UploadItem[]) => void;
  onProgress: (item: UploadItem) => void;
  onComplete: (item: UploadItem, videoId: string, ticket: Ticket | undefined) => void;
  onError: (item: UploadItem) => void;
};

/** Sends files, several at the same time. */
export class UploadQueue {
  #items: readonly UploadItem[] = [];
  #lastId = 0;
  readonly #send: Send;
  readonly #handlers: QueueHandlers;
  /** Those of the files that are being sent, by their ids. */
  readonly #controllers = new Map<number, AbortController>();

  constructor(send: Send, handlers: QueueHandlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  get items(): readonly UploadItem[] {
    return this.#items;
  }

  /** Adds files, without those that are already waiting or being sent. */
  add(files: readonly File[]): void {
    const known = new Set(this.#items.filter(isUnfinished).map(({ file }) => identityOf(file)));
    const added = files.filter((file) => {
      const isNew = !known.has(identityOf(file));
      known.add(identityOf(file));
      return isNew;
    });
    if (added.length > 0)
      this.#dispatch({ type: 'added', items: added.map((file) => ({ id: this.#newId(), file })) });
  }

  /** Shows files that are not sent, and why. */
  refuse(refused: readonly Pick<UploadItem, 'file' | 'error'>[]): void {
    const items = refused.map((each) => ({ ...each, id: this.#newId() }));
    if (items.length > 0) this.#dispatch({ type: 'refused', items });
    for (const { id } of items) this.#report(id, this.#handlers.onError);
  }

  pause(id: number): void {
    this.#abort(id);
    this.#dispatch({ type: 'paused', id });
  }

  pauseAll(): void {
    // The waiting ones, which are last, first: otherwise each of them would take the place of a paused one.
    for (const { id } of [...this.#items].reverse()) this.pause(id);
  }

  /** Also retries a file that has failed. */
  resume(id: number): void {
    this.#dispatch({ type: 'resumed', id });
  }

  remove(id: number): void {
    this.#abort(id);
    this.#dispatch({ type: 'removed', id });
  }

  #newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #abort(id: number): void {
    this.#controllers.get(id)?.abort();
    this.#controllers.delete(id);
  }

  #dispatch(action: UploadAction): void {
    this.#items = reduce(this.#items, action);
    for (const item of nextToStart(this.#items)) {
      this.#items = reduce(this.#items, { type: 'started', id: item.id });
      void this.#start(item);
    }
    this.#handlers.onChange(this.#items);
  }

  async #start({ id, file }: UploadItem): Promise<void> {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    const { signal } = controller;
    /** What a file that was paused or removed still reports is of no interest. */
    const dispatch = (action: UploadAction) => {
      if (!signal.aborted) this.#dispatch(action);
    };
    let ticket: Ticket | undefined;
    try {
      const { videoId } = await this.#send(file, {
        signal,
        onTicket: (given) => {
          ticket = given;
          dispatch({ type: 'ticket', id, videoId: given.videoId });
        },
        onProgress: (sent) => {
          dispatch({ type: 'progress', id, sent });
          if (!signal.aborted) this.#report(id, this.#handlers.onProgress);
        },
      });
      if (signal.aborted) return;
      dispatch({ type: 'ticket', id, videoId });
      dispatch({ type: 'sent', id });
      this.#report(id, (item) => this.#handlers.onComplete(item, videoId, ticket));
    } catch (error) {
      if (signal.aborted) return;
      dispatch({ type: 'failed', id, error });
      this.#report(id, this.#handlers.onError);
    }
  }

  #report(id: number, handler: (item: UploadItem) => void): void {
    const item = this.#items.find((each) => each.id === id);
    if (item !== undefined) handler(item);
  }
}
