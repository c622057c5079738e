import type { z } from 'zod';
import { boundedBody } from './bounded-body.ts';
import { type CheckedRequest, checkedRequest } from './checked-request.ts';
import { responseProblem } from './response-problem.ts';
import { type Pause, pause, retrying } from './retrying.ts';
import { TransferError } from './transfer-error.ts';

/** A page of a list, with much text for each of its entries. */
const MAX_JSON_BYTES = 16 * 1024 ** 2;
/** What Framelane accepts as captions. */
const MAX_TEXT_BYTES = 2 * 1024 ** 2;

export type ServiceOptions = {
  /** The service, for messages. */
  name: string;
  /** The URL of its API. */
  baseUrl: string;
  /** Credentials. They are sent to `baseUrl` only. */
  headers?: Readonly<Record<string, string>>;
  /** What to check when the service refuses the credentials. */
  denied: string;
  signal: AbortSignal;
  pause?: Pause;
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Sends requests to the API of a service: with retries, and never more of a response in memory than a limit. */
export class ServiceClient {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly pause: Pause;
  /** The host that the user has named. */
  readonly trustedHosts: ReadonlySet<string>;
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.name = options.name;
    this.signal = options.signal;
    this.pause = options.pause ?? pause;
    this.trustedHosts = new Set([new URL(options.baseUrl).hostname]);
    this.#options = options;
  }

  /** The URL of a path of the API. */
  urlOf(path: string): string {
    return `${this.#options.baseUrl}${path}`;
  }

  get<Schema extends z.ZodType>(path: string, schema: Schema, query: Query = {}): Promise<z.infer<Schema>> {
    return this.#json('GET', path, schema, query);
  }

  /** For calls that can be repeated. */
  post<Schema extends z.ZodType>(path: string, schema: Schema, body: unknown): Promise<z.infer<Schema>> {
    return this.#json('POST', path, schema, {}, body);
  }

  put<Schema extends z.ZodType>(path: string, schema: Schema, body: unknown): Promise<z.infer<Schema>> {
    return this.#json('PUT', path, schema, {}, body);
  }

  /** A text of the API, such as captions. */
  text(path: string): Promise<string> {
    const { headers = {}, denied } = this.#options;
    return this.#body(this.urlOf(path), { headers }, { maxBytes: MAX_TEXT_BYTES, denied });
  }

  /** A text at a URL that the service has named. The credentials are not sent. */
  textAt(url: string): Promise<string> {
    const denied = 'The file may need a signature that the API does not give.';
    return this.#body(url, {}, { maxBytes: MAX_TEXT_BYTES, denied });
  }

  async #json<Schema extends z.ZodType>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    schema: Schema,
    query: Query,
    body?: unknown,
  ): Promise<z.infer<Schema>> {
    const { headers = {}, denied } = this.#options;
    const url = new URL(this.urlOf(path));
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const text = await this.#body(
      url.href,
      {
        method,
        headers: {
          Accept: 'application/json',
          ...headers,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      { maxBytes: MAX_JSON_BYTES, denied },
    );
    return parseJson(text, schema, this.name);
  }

  #body(
    url: string,
    request: Omit<CheckedRequest, 'signal' | 'trustedHosts'>,
    { maxBytes, denied }: { maxBytes: number; denied: string },
  ): Promise<string> {
    const { name: server, signal, trustedHosts } = this;
    return retrying(async () => {
      const response = await checkedRequest(url, { ...request, signal, trustedHosts });
      if (response.statusCode === 200 || response.statusCode === 201)
        return boundedBody(response, { server, maxBytes });
      response.destroy();
      throw responseProblem(response, { server, denied });
    }, this);
  }
}

/** Parses JSON of a service. Throws a TransferError that names what is wrong. */
export function parseJson<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  server: string,
): z.infer<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    const kind = /^\s*</.test(text) ? 'a web page' : 'not JSON';
    throw new TransferError(
      `The response of ${server} is ${kind}. Check the URL, and that no proxy is in between.`,
      { cause },
    );
  }
  return checkShape(json, schema, server);
}

/** Checks a part of a response. Throws a TransferError that names the first wrong field. */
export function checkShape<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  server: string,
): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path = [], message = 'invalid' } = error.issues[0] ?? {};
  throw new TransferError(
    `The response of ${server} is not as documented: ${path.join('.') || 'body'}: ${message}.`,
  );
}
