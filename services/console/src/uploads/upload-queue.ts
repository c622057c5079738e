import { FramelaneError, type SessionScope, type UploadTicket, type Video } from '@framelane/client';
import { apiIn } from '../api/api.ts';
import { ofSound, type PackagingRequest, withWatermark } from './packaging-request.ts';
import { isFileOf, StoredUploads } from './stored-uploads.ts';
import type { TrimRequest } from './trim-request.ts';
import {
  type Action,
  type Item,
  isOver,
  isSoundFile,
  nextToStart,
  type Reason,
  reduce,
  titleOf,
} from './upload-items.ts';
import { hasLocks, lockedUploads, lockUpload } from './upload-locks.ts';
import type { WatermarkRequest } from './watermark-request.ts';

/** Seconds until the ticket of an upload without progress expires: a paused upload can continue the next day. */
const TICKET_SECONDS = 86_400;

const TICK_MS = 1_000;

type Permit = Pick<UploadTicket, 'videoId' | 'uploadUrl' | 'tusUrl' | 'uploadToken'>;

/** The internal state of a file that is being sent. */
type Transfer = {
  file: File;
  /** That of the queue when the file was added. */
  watermark?: WatermarkRequest | undefined;
  trim?: TrimRequest | undefined;
  packaging?: PackagingRequest;
  /** Aborted by a pause; each start has its own. */
  controller: AbortController;
  /** Requested once, also if the upload is paused meanwhile. */
  permit?: Promise<Permit>;
  unlock?: () => void;
};

let lastId = 0;

/** The uploads of a workspace and environment. They continue while the page shows another workspace. */
export class UploadQueue {
  #items: readonly Item[] = [];
  #watermark: WatermarkRequest | undefined;
  #trim: TrimRequest | undefined;
  #packaging: PackagingRequest = {};
  #ticking: ReturnType<typeof setInterval> | undefined;
  readonly #api: ReturnType<typeof apiIn>;
  readonly #stored: StoredUploads;
  readonly #transfers = new Map<number, Transfer>();
  readonly #listeners = new Set<() => void>();
  readonly #onVideosChanged: () => void;

  constructor(scope: SessionScope, onVideosChanged: () => void) {
    this.#api = apiIn(scope);
    this.#stored = new StoredUploads(localStorage, scope);
    this.#onVideosChanged = onVideosChanged;
  }

  /** Finds unfinished uploads while the workspace is shown. Returns the function that stops it. */
  watchUnfinished(): () => void {
    const findUnfinished = () => {
      if (document.visibilityState === 'visible') void this.#findUnfinished();
    };
    findUnfinished();
    document.addEventListener('visibilitychange', findUnfinished);
    return () => document.removeEventListener('visibilitychange', findUnfinished);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly items = (): readonly Item[] => this.#items;

  /** The watermark of files that are added from now on, and of imports. */
  readonly watermark = (): WatermarkRequest | undefined => this.#watermark;

  readonly setWatermark = (watermark: WatermarkRequest | undefined): void => {
    this.#watermark = watermark;
    for (const listener of this.#listeners) listener();
  };

  /** The trim of the files that are added next. */
  readonly trim = (): TrimRequest | undefined => this.#trim;

  readonly setTrim = (trim: TrimRequest | undefined): void => {
    this.#trim = trim;
    for (const listener of this.#listeners) listener();
  };

  /** The packaging and the codecs of files that are added from now on, and of imports. */
  readonly packaging = (): PackagingRequest => this.#packaging;

  readonly setPackaging = (packaging: PackagingRequest): void => {
    this.#packaging = packaging;
    for (const listener of this.#listeners) listener();
  };

  /** Adds files. A file of an unfinished upload continues it. */
  readonly add = (files: Iterable<File>): void => {
    const added = [...files].flatMap((file) => {
      const unfinished = this.#items.find(
        (item) => item.state === 'unfinished' && this.#isFileOf(item, file),
      );
      if (unfinished !== undefined) {
        void this.#continue(unfinished, file);
        return [];
      }
      lastId += 1;
      this.#transfers.set(lastId, {
        file,
        watermark: this.#watermark,
        trim: this.#trim,
        packaging: this.#packaging,
        controller: new AbortController(),
      });
      return { id: lastId, name: file.name, size: file.size };
    });
    if (added.length === 0) return;
    // Other files rarely have the same part.
    this.#trim = undefined;
    this.#dispatch({ type: 'added', items: added });
  };

  /** Continues an unfinished upload with its file, if it is that. */
  readonly choose = (item: Item, file: File): void => {
    if (this.#isFileOf(item, file)) void this.#continue(item, file);
    else this.#dispatch({ type: 'refused', id: item.id, reason: 'other-file' });
  };

  readonly pause = (id: number): void => {
    this.#transfers.get(id)?.controller.abort();
    this.#dispatch({ type: 'paused', id });
  };

  readonly pauseAll = (): void => {
    for (const { id, state } of this.#items) {
      if (state === 'sending') this.#transfers.get(id)?.controller.abort();
    }
    this.#dispatch({ type: 'all-paused' });
  };

  /** Also retries a file that failed. */
  readonly resume = (id: number): void => this.#dispatch({ type: 'resumed', id });

  readonly resumeAll = (): void => this.#dispatch({ type: 'all-resumed', from: 'paused' });

  readonly retryAll = (): void => this.#dispatch({ type: 'all-resumed', from: 'failed' });

  /** Removes an item. The video of a file that has not arrived is deleted. */
  readonly remove = (item: Item): void => {
    const { id, state, videoId } = item;
    const transfer = this.#transfers.get(id);
    transfer?.controller.abort();
    this.#transfers.delete(id);
    this.#dispatch({ type: 'removed', ids: [id] });
    if (state === 'sent' || state === 'ended') return;
    const permit = transfer?.permit ?? Promise.resolve(videoId === undefined ? undefined : { videoId });
    // A ticket that was refused has no video.
    void permit.catch(() => undefined).then((begun) => begun && this.#delete(begun.videoId, transfer));
  };

  /** Takes the files of deleted videos out of the finished ones. */
  readonly forget = (videoIds: readonly string[]): void => {
    const ids = this.#items
      .filter((item) => isOver(item) && videoIds.includes(item.videoId ?? ''))
      .map(({ id }) => id);
    if (ids.length > 0) this.#dispatch({ type: 'removed', ids });
  };

  /** Takes from a list of videos which files arrived, but became failed videos. */
  readonly learn = (videos: readonly Pick<Video, 'id' | 'status'>[]): void => {
    const failed = new Map(videos.map(({ id, status }) => [id, status === 'failed']));
    for (const { id, state, videoId = '', hasFailed: before = false } of this.#items) {
      const hasFailed = failed.get(videoId) ?? before;
      if (state === 'sent' && hasFailed !== before) this.#dispatch({ type: 'processed', id, hasFailed });
    }
  };

  readonly clear = (): void => this.#dispatch({ type: 'cleared' });

  #dispatch(action: Action): void {
    this.#items = reduce(this.#items, action);
    this.#changed();
  }

  #changed(): void {
    this.#startNext();
    this.#tick();
    for (const listener of this.#listeners) listener();
  }

  #startNext(): void {
    for (const { id } of nextToStart(this.#items)) {
      const transfer = this.#transfers.get(id);
      if (transfer === undefined) continue;
      transfer.controller = new AbortController();
      this.#items = reduce(this.#items, { type: 'started', id });
      void this.#send(id, transfer);
    }
  }

  /** While something is sent, measures the speed and stores the progress. */
  #tick(): void {
    const isSending = this.#items.some(({ state }) => state === 'sending');
    if (isSending === (this.#ticking !== undefined)) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    if (!isSending) return;
    let last = performance.now();
    this.#ticking = setInterval(() => {
      const now = performance.now();
      const seconds = (now - last) / 1000;
      last = now;
      for (const { state, videoId, sent } of this.#items) {
        if (state === 'sending' && videoId !== undefined) this.#stored.progress(videoId, sent);
      }
      this.#dispatch({ type: 'ticked', seconds });
    }, TICK_MS);
  }

  async #send(id: number, transfer: Transfer): Promise<void> {
    const { file, controller } = transfer;
    const { signal } = controller;
    try {
      transfer.permit ??= this.#begin(id, transfer).catch((error: unknown) => {
        // The next transfer requests another ticket, also if the upload is paused now.
        delete transfer.permit;
        throw error;
      });
      const permit = await transfer.permit;
      signal.throwIfAborted();
      const { upload } = await import('@framelane/client/browser');
      const onProgress = ({ sent }: { sent: number }) => {
        if (!signal.aborted) this.#dispatch({ type: 'progress', id, sent });
      };
      await upload(file, permit, { signal, onProgress, resumableAbove: 0 });
      this.#finish(id, permit.videoId, transfer);
    } catch (error) {
      if (!signal.aborted) await this.#fail(id, transfer, error);
    }
    this.#onVideosChanged();
  }

  /** Requests a ticket, and keeps it. */
  async #begin(id: number, transfer: Transfer): Promise<Permit> {
    const { file, packaging = {} } = transfer;
    const { name, size, lastModified: modified } = file;
    const request = {
      filename: name,
      title: titleOf(name),
      size,
      expiresIn: TICKET_SECONDS,
      ...(transfer.trim && { trim: transfer.trim }),
      ...(isSoundFile(name)
        ? { ...ofSound(packaging), audioOnly: true }
        : transfer.watermark
          ? { ...withWatermark(packaging), watermark: transfer.watermark }
          : packaging),
    };
    const { videoId, uploadUrl, tusUrl, uploadToken } = await this.#api.uploadTickets.create(request);
    const permit = { videoId, uploadUrl, tusUrl, uploadToken };
    this.#dispatch({ type: 'ticket', id, videoId });
    const unlock = await lockUpload(videoId);
    if (unlock !== undefined) transfer.unlock = unlock;
    // Over http, except on localhost, browsers have no locks. Then nothing is stored, because two tabs could send the same upload, and
    // because others on the network could read the token.
    if (hasLocks() && this.#transfers.has(id)) this.#stored.add({ ...permit, name, size, modified, sent: 0 });
    return permit;
  }

  #finish(id: number, videoId: string, transfer: Transfer): void {
    this.#forget(videoId, transfer);
    this.#transfers.delete(id);
    this.#dispatch({ type: 'sent', id });
  }

  async #fail(id: number, transfer: Transfer, error: unknown): Promise<void> {
    const code = error instanceof FramelaneError ? error.code : '';
    const permit = await transfer.permit?.catch(() => undefined);
    // The file has arrived, but the response to an earlier request was lost.
    if (code === 'upload_token_used' && permit) return this.#finish(id, permit.videoId, transfer);
    // The ticket of a refused upload is of no use for another transfer, which begins with the first byte.
    if (permit === undefined || code.startsWith('upload_token_')) {
      if (permit) this.#forget(permit.videoId, transfer);
      delete transfer.permit;
      this.#dispatch({ type: 'progress', id, sent: 0 });
    }
    this.#dispatch({ type: 'failed', id, error });
  }

  #forget(videoId: string, transfer?: Transfer): void {
    this.#stored.remove(videoId);
    transfer?.unlock?.();
    delete transfer?.unlock;
  }

  /** If the deletion fails, the video stays in the list until its ticket expires, and can be deleted there. */
  async #delete(videoId: string, transfer: Transfer | undefined): Promise<void> {
    this.#forget(videoId, transfer);
    await this.#api.videos.delete(videoId).catch(() => {});
    this.#onVideosChanged();
  }

  #isFileOf({ videoId = '' }: Item, file: File): boolean {
    const stored = this.#stored.get(videoId);
    return stored !== undefined && isFileOf(stored, file);
  }

  async #continue({ id, videoId = '' }: Item, file: File): Promise<void> {
    const unlock = await lockUpload(videoId);
    const stored = this.#stored.get(videoId);
    if (unlock === undefined || stored === undefined) {
      unlock?.();
      return this.#dispatch({ type: 'refused', id, reason: 'other-tab' });
    }
    // Removed while the lock was requested.
    if (!this.#items.some((item) => item.id === id)) return unlock();
    const controller = new AbortController();
    this.#transfers.set(id, { file, controller, permit: Promise.resolve(stored), unlock });
    this.#dispatch({ type: 'resumed', id });
  }

  /** Lists the stored uploads that no tab sends, and removes those that another tab sends or has finished. */
  async #findUnfinished(): Promise<void> {
    if (!hasLocks()) return;
    const locked = await lockedUploads();
    const stored = this.#stored.all().filter(({ videoId }) => !locked.has(videoId));
    const isStored = ({ videoId }: Item) => stored.some((each) => each.videoId === videoId);
    const gone = this.#items.filter((item) => item.state === 'unfinished' && !isStored(item));
    if (gone.length > 0) this.#dispatch({ type: 'removed', ids: gone.map(({ id }) => id) });
    const known = new Set(this.#items.map(({ videoId }) => videoId));
    const items = stored.flatMap(({ videoId, name, size, sent }) => {
      if (known.has(videoId)) return [];
      lastId += 1;
      return { id: lastId, videoId, name, size, sent };
    });
    if (items.length === 0) return;
    this.#dispatch({ type: 'found', items });
    await Promise.all(items.map(({ id, videoId }) => this.#check(id, videoId)));
  }

  /** Marks an unfinished upload as sent or ended if its video no longer accepts a file. If that is unknown, the upload stays unfinished. */
  async #check(id: number, videoId: string): Promise<void> {
    const outcome = await outcomeOf(this.#api, videoId);
    const isUnfinished = this.#items.some((item) => item.id === id && item.state === 'unfinished');
    if (outcome === undefined || !isUnfinished) return;
    this.#stored.remove(videoId);
    this.#dispatch(outcome === 'arrived' ? { type: 'sent', id } : { type: 'ended', id, reason: outcome });
  }
}

/** The outcome of the upload of a video; undefined if the upload can continue, or if the outcome is unknown. */
async function outcomeOf(
  api: ReturnType<typeof apiIn>,
  videoId: string,
): Promise<'arrived' | Reason | undefined> {
  try {
    const { status, error } = await api.videos.get(videoId);
    if (status === 'uploading') return undefined;
    return error?.code === 'upload_expired' ? 'expired' : 'arrived';
  } catch (error) {
    return error instanceof FramelaneError && error.status === 404 ? 'deleted' : undefined;
  }
}
