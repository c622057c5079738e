import { setTimeout as delay } from 'node:timers/promises';
import { type Problem, unavailable } from '@framelane/service-kit/problem';

/** How long a request waits for a part of a video that is planned and not stored. Players wait about as long for a response. */
const WAIT_MS = 15_000;
/** The time between two lookups of a part. It grows by a tenth of the time waited. */
const POLL_MS = 300;
/** Parts that requests wait for at the same time, of all videos and of one. */
const MAX_WAITS = 200;
const MAX_WAITS_OF_VIDEO = 50;

/** The result of one lookup of a part. `error` is the error of the object store. */
export type Lookup<T> = { attemptHasEnded: boolean; found?: T | undefined; error?: unknown };

/** A part of a video, such as a segment: `name` is unique among all parts of the video. */
type Part = { workspaceId: string; videoId: string; name: string };

/** Waits for parts of videos that engines have not stored yet. Requests for one part share a wait. */
export class PreviewWaits {
  readonly #waitMs: number;
  readonly #maxWaits: number;
  readonly #waits = new Map<string, Promise<unknown>>();

  constructor({ waitMs = WAIT_MS, maxWaits = MAX_WAITS }: { waitMs?: number; maxWaits?: number }) {
    this.#waitMs = waitMs;
    this.#maxWaits = maxWaits;
  }

  /**
   * Looks a part up, repeatedly until it is found. Undefined if its attempt ends. Throws 503 `unavailable` if it is not found within the
   * time limit, or too many requests wait. All lookups of a part must have results of the same type.
   */
  async find<T>(
    { workspaceId, videoId, name }: Part,
    lookUp: (isFirst: boolean) => Promise<Lookup<T>>,
  ): Promise<T | undefined> {
    const { attemptHasEnded, found } = await lookUp(true);
    if (attemptHasEnded || found !== undefined) return found;

    const ofVideo = `${workspaceId}/${videoId}/`;
    const key = `${ofVideo}${name}`;
    const waiting = this.#waits.get(key);
    if (waiting !== undefined) return waiting as Promise<T | undefined>;
    const others = [...this.#waits.keys()].filter((other) => other.startsWith(ofVideo)).length;
    if (this.#waits.size >= this.#maxWaits || others >= MAX_WAITS_OF_VIDEO) throw notYetStored();
    const wait = this.#wait(lookUp).finally(() => this.#waits.delete(key));
    this.#waits.set(key, wait);
    return wait;
  }

  async #wait<T>(lookUp: (isFirst: boolean) => Promise<Lookup<T>>): Promise<T | undefined> {
    const begin = Date.now();
    for (;;) {
      const waited = Date.now() - begin;
      await delay(Math.min(POLL_MS + waited / 10, Math.max(0, this.#waitMs - waited)));
      const { attemptHasEnded, found, error } = await lookUp(false);
      if (attemptHasEnded || found !== undefined) return found;
      if (Date.now() - begin >= this.#waitMs) throw notYetStored(error);
    }
  }
}

/** The problem for a part that engines have not stored yet. */
export function notYetStored(cause?: unknown): Problem {
  return unavailable('This part of the video is not ready yet. Retry in a few seconds.', cause);
}
