import type { Request } from 'express';
import onHeaders from 'on-headers';
import { rateLimited } from './window-counter.ts';

/**
 * Requests that are authenticated and handled at the same time. In an overload, each waits for about so many others: with 1,000 a second, for a
 * quarter of a second.
 */
export const CONCURRENT_REQUESTS = 256;

/** The client should retry when some of the requests in progress have ended. */
const RETRY_SECONDS = 1;

/**
 * Limits the requests that one control plane handles at the same time. Without a limit, a control plane that gets more requests than it can
 * handle responds to each later than to the one before, until all clients have given up before their response: it works, and nobody
 * benefits. The limit is shared: a workspace with fewer requests in progress than an equal share is always served.
 *
 * A request counts from its authentication until the head of its response, so that slow downloads do not count.
 */
export class ConcurrencyLimit {
  readonly #capacity: number;
  /** Requests in progress, by workspace. */
  readonly #inProgress = new Map<string, number>();
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Counts a request of the workspace that it names. It need not be authenticated yet: invalid credentials are refused within milliseconds. Throws
   * 429 `rate_limited` if the limit is reached and the workspace has its share of it.
   */
  enter(req: Request): void {
    const workspace = req.get('x-svc-workspace') ?? req.get('authorization') ?? '';
    if (!this.#admits(workspace)) {
      throw rateLimited(
        'The service is busy, and other requests of this workspace are in progress.',
        RETRY_SECONDS,
      );
    }
    this.#add(workspace, 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.#add(workspace, -1);
    };
    if (req.res === undefined) throw new Error('The request has no response');
    onHeaders(req.res, end);
    req.res.once('close', end);
  }

  #admits(workspace: string): boolean {
    if (this.#total < this.#capacity) return true;
    const own = this.#inProgress.get(workspace) ?? 0;
    const workspaces = this.#inProgress.size + (own === 0 ? 1 : 0);
    return own < Math.max(1, Math.floor(this.#capacity / workspaces));
  }

  #add(workspace: string, change: 1 | -1): void {
    this.#total += change;
    const now = (this.#inProgress.get(workspace) ?? 0) + change;
    if (now === 0) this.#inProgress.delete(workspace);
    else this.#inProgress.set(workspace, now);
  }
}
