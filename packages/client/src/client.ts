import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import type { Paths, ReadyVideo } from './contract.ts';
import { type ListInit, type ListItem, type ListPath, listAll } from './list.ts';
import { type Fetch, withRetries } from './retries.ts';
import { type WaitOptions, waitUntilReady } from './wait-until-ready.ts';

export type ClientOptions = {
  /** Where the API is, e.g. `https://video.example.com/v1`. */
  baseUrl: string;
  /** Keep it on a server: whoever has it can do all that it may. */
  apiKey: string;
  workspaceId: string;
  /** In place of the global one, e.g. to go through a proxy. */
  fetch?: Fetch | undefined;
};

/**
 * The API, typed by the contract. `GET`, `POST`, `PATCH` and `DELETE` are openapi-fetch's and resolve with `data` or
 * `error`; the functions below throw a FramelaneError in its place.
 */
export type FramelaneClient = Client<Paths> & {
  /** Every entry of a list, page after page. Takes what `GET` takes. */
  list<Path extends ListPath>(path: Path, ...init: ListInit<Path>): AsyncGenerator<ListItem<Path>, void>;
  /** Waits until a video can be played. Throws a VideoFailedError if it fails instead. */
  waitUntilReady(videoId: string, options?: WaitOptions): Promise<ReadyVideo>;
};

/** A client of one workspace. Requests that were not answered or not carried out for now are repeated. */
export function createClient({ baseUrl, apiKey, workspaceId, fetch }: ClientOptions): FramelaneClient {
  const api = createFetchClient<Paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${apiKey}`, 'X-Svc-Workspace': workspaceId },
    fetch: withRetries(fetch ?? ((request) => globalThis.fetch(request))),
  });
  api.use(idempotencyKeys);
  return {
    ...api,
    list: (path, ...init) => listAll(api, path, ...init),
    waitUntilReady: (videoId, options) => waitUntilReady(api, videoId, options),
  };
}

/** Makes every POST one that can be repeated. */
const idempotencyKeys: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'POST' || request.headers.has('Idempotency-Key')) return;
    request.headers.set('Idempotency-Key', crypto.randomUUID());
  },
};
