import { type Api, type Authorize, createApi } from './api.ts';
import type { Schemas } from './contract.ts';
import { createResources, type Resources } from './resources.ts';
import type { Fetch, RetryOptions } from './retries.ts';

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
 * FramelaneErrors. The methods `GET`, `POST`, `PUT`, `PATCH` and `DELETE` send any request and resolve with `data` or `error`.
 */
export type FramelaneClient = Api & Resources;

/**
 * Creates a client. With an API key it is for one workspace; with a session, `scope` names the workspace of each request. The client
 * retries requests without a complete response or with a temporary error. Throws a TypeError that names an option without a value, for example because an
 * environment variable is not set.
 */
export function createClient(options: ClientOptions | SessionClientOptions): FramelaneClient {
  const { baseUrl, fetch = (request) => globalThis.fetch(request), retries, timeoutMs } = options;
  requireText('baseUrl', baseUrl, 'the URL of the API, for example https://video.example.com/v1');
  const authorize = 'apiKey' in options ? keyHeaders(options) : sessionHeaders(options);
  const api = createApi({ baseUrl, fetch, retries, timeoutMs, authorize });
  return { ...api, ...createResources(api) };
}

function requireText(name: string, value: unknown, meaning: string): void {
  if (typeof value !== 'string' || value === '')
    throw new TypeError(`createClient needs \`${name}\`: ${meaning}.`);
}

function keyHeaders({ apiKey, workspaceId }: ClientOptions): Authorize {
  requireText('apiKey', apiKey, 'the secret of an API key');
  requireText('workspaceId', workspaceId, 'the id of the workspace, which begins with ws_');
  return (headers) => {
    if (!headers.has('Authorization')) headers.set('Authorization', `Bearer ${apiKey}`);
    if (!headers.has('X-Svc-Workspace')) headers.set('X-Svc-Workspace', workspaceId);
  };
}

/** The CSRF token of the session, and the chosen workspace and environment. */
function sessionHeaders({ csrfToken, scope }: SessionClientOptions): Authorize {
  return (headers, method) => {
    const token = csrfToken();
    if (method !== 'GET' && token !== undefined) headers.set('X-Framelane-CSRF', token);
    const chosen = scope?.();
    if (chosen === undefined || headers.has('X-Svc-Workspace')) return;
    headers.set('X-Svc-Workspace', chosen.workspaceId);
    headers.set('X-Framelane-Environment', chosen.environment);
  };
}
