import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import onHeaders from 'on-headers';
import { clientNetwork } from './client-network.ts';
import { rateLimited, upTo } from './window-counter.ts';

/** The client should retry when some of the requests in progress have ended. */
const RETRY_SECONDS = 1;

/** Credentials whose workspace one control plane remembers. */
const CREDENTIALS = 50_000;

/** How long a request of a client that has disconnected counts, in milliseconds, if its handler ends without a response. */
const ABANDONED_MS = 10_000;

/**
 * Limits the requests that one control plane handles at the same time. Without a limit, a control plane that gets more requests than it can
 * handle responds to each later than to the one before, until all clients have given up before their response: it works, and nobody
 * benefits. The limit is shared: a workspace with fewer requests in progress than an equal share is always served.
 *
 * A request counts from its authentication until the head of its response, so that slow downloads do not count.
 */
export class ConcurrencyLimit {
  readonly #capacity: number;
  /** Requests in progress, by workspace, or by network while the workspace is not known. */
  readonly #inProgress = new Map<string, number>();
  #total = 0;
  /** The workspaces of credentials, by hash. They grant nothing; they only decide whose requests count together. */
  readonly #workspaces = new LRUCache<string, string>(upTo(CREDENTIALS));

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Counts a request before its credential is verified: for the workspace of that credential the last time, else for the network of the
   * client. Throws 429 `rate_limited` if the limit is reached and that one has its share of it. Returns a function to call with the
   * verified workspace.
   */
  enter(req: Request, credential: string): (workspaceId: string) => void {
    const name = hash('sha256', credential, 'base64');
    let counted = this.#workspaces.get(name) ?? `network ${clientNetwork(req)}`;
    const { res } = req;
    if (res === undefined) throw new Error('The request has no response');
    // The client has disconnected, so nothing would end the count.
    if (res.destroyed) return () => {};
    if (!this.#admits(counted)) {
      throw rateLimited(
        'The service is busy, and other requests of this workspace are in progress.',
        RETRY_SECONDS,
      );
    }
    this.#add(counted, 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.#add(counted, -1);
    };
    whenHandled(res, end);
    return (workspaceId) => {
      this.#workspaces.set(name, workspaceId);
      if (isOver || workspaceId === counted) return;
      this.#add(counted, -1);
      counted = workspaceId;
      this.#add(counted, 1);
    };
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

/** Calls `end`, perhaps several times, when the head of a response is sent, or when the handler of a client that has disconnected ends. */
function whenHandled(res: Response, end: () => void): void {
  onHeaders(res, end);
  // Without a connection, Node writes no head.
  const endResponse = res.end;
  res.end = ((...args: Parameters<Response['end']>) => {
    end();
    return Reflect.apply(endResponse, res, args);
  }) as Response['end'];
  res.once('close', () => {
    // Complete responses close, too, and a timer for each would keep them in memory.
    if (!res.headersSent) setTimeout(end, ABANDONED_MS).unref();
  });
}
