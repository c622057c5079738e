import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import type { Paths, Schemas } from './contract.ts';
import { type CallOptions, createResources, type Resources } from './resources.ts';
import { type Fetch, type RetryOptions, withRetries } from './retries.ts';

type Connection = RetryOptions & {
  /** URL of the API, e.g. `https://video.example.com/v1`. */
  baseUrl: string;
  /** Replaces the global `fetch`, e.g. to use a proxy. */
  fetch?: Fetch | undefined;
};

export type ClientOptions = Connection & {
  /** Keep it on a server: everybody who has it can use all of its permissions. */
  apiKey: string;
  workspaceId: string;
};

/** For the console of Framelane, whose credential is the cookie of its session. */
export type SessionClientOptions = Connection & {
  /** The `csrfToken` of the session; undefined before the sign-in. */
  csrfToken: () => string | undefined;
  /** The workspace and environment of requests that name none; undefined for the default of the session. */
  scope?: () => SessionScope | undefined;
};

/** The workspace and environment that a session chooses for a request. */
export type SessionScope = { workspaceId: string; environment: Schemas['Environment'] };

/**
 * The client of the API, typed by the contract. The methods of the resources, such as `videos.get`, return data and throw
 * FramelaneErrors. The methods `GET`, `POST`, `PUT`, `PATCH` and `DELETE` of openapi-fetch send any request and resolve with `data`
 * or `error`.
 */
export type FramelaneClient = Client<Paths> & Resources;

/**
 * Creates a client. With an API key it is for one workspace; with a session, `scope` names the workspace of each request. The client
 * retries requests without a complete response or with a temporary error.
 */
export function createClient(options: ClientOptions | SessionClientOptions): FramelaneClient {
  const { baseUrl, fetch = (request) => globalThis.fetch(request), retries, timeoutMs } = options;
  const api = createFetchClient<Paths>({
    baseUrl,
    ...('apiKey' in options && {
      headers: { Authorization: `Bearer ${options.apiKey}`, 'X-Svc-Workspace': options.workspaceId },
    }),
    fetch: withRetries(fetch, { retries, timeoutMs }),
  });
  api.use(idempotencyKeys);
  if ('csrfToken' in options) api.use(sessionHeaders(options));
  const requestOptions = (options: CallOptions = {}, { streamed = false } = {}) => ({
    signal: options.signal ?? null,
    headers: { 'Idempotency-Key': options.idempotencyKey },
    fetch: withRetries(fetch, {
      retries: options.retries ?? retries,
      timeoutMs: options.timeoutMs ?? timeoutMs,
      streamed,
    }),
  });
  return { ...api, ...createResources(api, requestOptions) };
}

/** Makes every POST idempotent, so that it can be retried. */
const idempotencyKeys: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'POST' || request.headers.has('Idempotency-Key')) return;
    request.headers.set('Idempotency-Key', crypto.randomUUID());
  },
};

/** Adds the CSRF token of the session, and the chosen workspace and environment. */
function sessionHeaders({ csrfToken, scope }: SessionClientOptions): Middleware {
  return {
    onRequest({ request }) {
      const token = csrfToken();
      if (request.method !== 'GET' && token !== undefined) request.headers.set('X-Framelane-CSRF', token);
      const chosen = scope?.();
      if (chosen === undefined || request.headers.has('X-Svc-Workspace')) return;
      request.headers.set('X-Svc-Workspace', chosen.workspaceId);
      request.headers.set('X-Framelane-Environment', chosen.environment);
    },
  };
}
