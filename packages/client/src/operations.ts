import type { Paths } from './contract.ts';
import type { RetryOptions } from './retries.ts';

/** The methods of the contract that a program calls. */
export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have a method. */
export type PathWith<Method extends HttpMethod> = {
  [Path in keyof Paths]: Paths[Path] extends Record<Method, { responses: unknown }> ? Path : never;
}[keyof Paths];

export type Operation<Path extends keyof Paths, Method extends HttpMethod> =
  Paths[Path] extends Record<Method, infer Found> ? Found : never;

export type CallOptions = RetryOptions & {
  /** Aborts the call, retries included. The call throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** For a POST: your own key in place of a random one, e.g. to retry the call after a restart. */
  idempotencyKey?: string | undefined;
};

/** What `data` is, by `parseAs`. JSON has the type that the contract gives it. */
export type Formats<Json> = {
  json: Json;
  text: string;
  blob: Blob;
  arrayBuffer: ArrayBuffer;
  stream: Response['body'];
};

export type ParseAs = keyof Formats<unknown>;

/** What a request of an operation takes: its parameters and its body, and what `fetch` takes, such as `cache`. */
export type Init<Called, As extends ParseAs> = Parameters<Called> &
  Body<Called> &
  CallOptions &
  Omit<RequestInit, 'body' | 'headers' | 'method' | 'signal'> & {
    /** Headers besides those of `params`. With a `Content-Type` that is not JSON, `body` is sent as it is. */
    headers?: RequestInit['headers'] | Readonly<Record<string, string | undefined>>;
    /** How the body of a successful response is read. Default `json`. With `stream` no timeout applies to it, and it is not retried. */
    parseAs?: As;
  };

/** The arguments after the path. The object is optional if nothing in it is required. */
export type InitArguments<Called, As extends ParseAs> =
  object extends Init<Called, As> ? [init?: Init<Called, As>] : [init: Init<Called, As>];

/** `data` of a successful response, or `error` of another. */
export type Result<Called, As extends ParseAs> = Called extends { responses: infer Responses }
  ?
      | { data: Formats<BodyOf<Responses, Success>>[As]; error?: never; response: Response }
      | {
          data?: never;
          error: Exclude<BodyOf<Responses, Exclude<keyof Responses, Success>>, undefined>;
          response: Response;
        }
  : never;

type Parameters<Called> = Called extends { parameters: infer Known }
  ? object extends Known
    ? { params?: Known }
    : { params: Known }
  : never;

type Body<Called> = Called extends { requestBody?: never }
  ? { body?: never }
  : Called extends { requestBody: { content: infer Content } }
    ? { body: Sendable<Content> }
    : Called extends { requestBody?: { content: infer Content } }
      ? { body?: Sendable<Content> }
      : never;

/** The contract calls a file a string. */
type Sendable<Content> = {
  [Media in keyof Content]: Media extends 'application/json' ? Content[Media] : string | Blob | Uint8Array;
}[keyof Content];

type Success = 200 | 201 | 202 | 204 | 206;

type BodyOf<Responses, Status> = {
  [Found in keyof Responses & Status]: Responses[Found] extends { content: infer Content }
    ? Content[keyof Content]
    : undefined;
}[keyof Responses & Status];
