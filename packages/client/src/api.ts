import { FramelaneError } from './framelane-error.ts';
import type {
  CallOptions,
  HttpMethod,
  InitArguments,
  Operation,
  ParseAs,
  PathWith,
  Result,
} from './operations.ts';
import { parseBody } from './parse-body.ts';
import { type Fetch, type RetryOptions, withRetries } from './retries.ts';

/** Calls an operation. Resolves with `data`, or with `error` if the response is a problem. Throws without a complete response. */
type Call<Method extends HttpMethod> = <Path extends PathWith<Method>, As extends ParseAs = 'json'>(
  path: Path,
  ...init: InitArguments<Operation<Path, Method>, As>
) => Promise<Result<Operation<Path, Method>, As>>;

/** One method for each method of HTTP, typed by the paths of the contract. */
export type Api = { [Method in HttpMethod as Uppercase<Method>]: Call<Method> };

type ApiOptions = RetryOptions & {
  baseUrl: string;
  fetch: Fetch;
  authorize: Authorize;
};

/** Adds the credential to the headers of a request. */
export type Authorize = (headers: Headers, method: string) => void;

/** What the types of the calls ensure. */
type AnyInit = CallOptions &
  Omit<RequestInit, 'body' | 'headers' | 'method' | 'signal'> & {
    params?: { path?: Values; query?: Values; header?: Values };
    body?: unknown;
    headers?: RequestInit['headers'] | Values;
    parseAs?: ParseAs;
  };
type Values = Readonly<Record<string, unknown>>;

/** Builds the requests of the calls, sends them with retries, and reads their responses. */
export function createApi({ baseUrl, fetch, authorize, ...defaults }: ApiOptions): Api {
  const root = baseUrl.replace(/\/$/, '');

  async function call(method: string, path: string, init: AnyInit = {}) {
    const { params, body, headers: given, parseAs = 'json', retries, timeoutMs, ...others } = init;
    const { signal, idempotencyKey, ...fetchInit } = others;
    const headers = new Headers();
    setHeaders(headers, given);
    setHeaders(headers, params?.header);
    // Every POST is idempotent, so that it can be retried.
    if (method === 'POST' && !headers.has('Idempotency-Key'))
      headers.set('Idempotency-Key', idempotencyKey ?? crypto.randomUUID());
    authorize(headers, method);
    const request = new Request(`${root}${withValues(path, params?.path)}${queryOf(params?.query)}`, {
      ...fetchInit,
      method,
      body: serialized(body, headers),
      headers,
      signal: signal ?? null,
    });
    const send = withRetries(fetch, {
      retries: retries ?? defaults.retries,
      timeoutMs: timeoutMs ?? defaults.timeoutMs,
      streamed: parseAs === 'stream',
    });
    return read(await send(request), parseAs);
  }

  const of = (method: string) => (path: string, init?: AnyInit) => call(method, path, init) as Promise<never>;
  // The types of the calls ensure that `init` fits the path.
  return {
    GET: of('GET'),
    POST: of('POST'),
    PUT: of('PUT'),
    PATCH: of('PATCH'),
    DELETE: of('DELETE'),
  } as Api;
}

function setHeaders(headers: Headers, added: AnyInit['headers']): void {
  const entries = added instanceof Headers || Array.isArray(added) ? added : Object.entries(added ?? {});
  for (const [name, value] of entries as Iterable<[string, unknown]>)
    if (value !== undefined && value !== null) headers.set(name, String(value));
}

/** A path of the contract with the values of its parameters. */
function withValues(path: string, values: Values = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '');
    // These would name another resource: `/videos/1/captions/..` is `/videos/1/`. Some proxies unescape `/` before they resolve `..`.
    if (value.split(/[/\\]/).some((segment) => ['', '.', '..'].includes(segment))) {
      const message = `"${value}" cannot be the value of \`${name}\` in ${path}.`;
      throw new FramelaneError(message, { code: 'invalid_path_parameter' });
    }
    return encodeURIComponent(value);
  });
}

/** Arrays have an entry for each value. */
function queryOf(values: Values = {}): string {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => (each == null ? [] : `${name}=${escaped(String(each))}`)),
  );
  return entries.length === 0 ? '' : `?${entries.join('&')}`;
}

/** OpenAPI forbids all reserved characters of RFC 3986 §2.2 in values, also those that encodeURIComponent keeps, and `+` for a space. */
function escaped(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The body as JSON, unless its `Content-Type` is another. */
function serialized(body: unknown, headers: Headers): string | Blob | null {
  if (body === undefined) return null;
  if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
  return headers.get('Content-Type')?.includes('json') ? JSON.stringify(body) : (body as string);
}

async function read(response: Response, parseAs: ParseAs) {
  if (!response.ok) return { error: parseBody(await response.text()), response };
  if (parseAs === 'stream') return { data: response.body, response };
  if (parseAs !== 'json') return { data: await response[parseAs](), response };
  const text = await response.text();
  return { data: text === '' ? undefined : parseJson(text), response };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = 'The response is not JSON, so it is not from Framelane. Check `baseUrl`.';
    throw new FramelaneError(message, { code: 'unexpected_response', cause });
  }
}
