import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TcpNetConnectOpts } from 'node:net';
import { type AddressGuard, lookupOf } from '@framelane/address-guard/address-guard';
import { readRetryAfter } from '@framelane/service-kit/retry-after';
import type { DeliveryFailure } from '../db/schema.ts';
import { failureOfError, failureOfStatus } from './delivery-failures.ts';
import { signedHeaders } from './endpoint-secret.ts';

/** The sender discards the response body. It closes the connection after this many bytes, more than usual endpoints send. */
const RESPONSE_BYTES = 4096;

/** Timeout to connect to one address of a host. Then the sender tries the next address. */
const CONNECT_ATTEMPT_MS = 2000;

/** An event for one endpoint. */
export type OutgoingEvent = {
  url: string;
  /** Id of the event, the same in every attempt. */
  id: string;
  body: string;
  /** The secrets that sign the event. There are two for a day after a rotation. */
  secrets: readonly Uint8Array[];
};

/** The result of one attempt. */
export type AttemptResult = {
  durationMs: number;
  /** Null without a response. */
  responseStatus: number | null;
  /** Null after a 2xx response. */
  failure: DeliveryFailure | null;
  /** The pause that the endpoint requests with Retry-After. */
  retryAfterSeconds: number | null;
};

/** Node passes options that it does not know to the socket. */
type PostOptions = RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'>;

type EndpointResponse = { status: number; retryAfter: string | undefined };

/** Sends events. Each request has its own connection, to an address that the guard has just allowed. */
export class DeliverySender {
  readonly #guard: AddressGuard;
  readonly #timeoutMs: number;
  readonly #interruption = new AbortController();

  constructor(deps: { guard: AddressGuard; timeoutSeconds: number }) {
    this.#guard = deps.guard;
    this.#timeoutMs = deps.timeoutSeconds * 1000;
  }

  /**
   * Makes one attempt. Never rejects because of the endpoint. Resolves with null if `interrupt` was called: the attempt has no
   * result and must be made again.
   */
  async send(event: OutgoingEvent): Promise<AttemptResult | null> {
    const startMs = performance.now();
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = AbortSignal.any([timeout, this.#interruption.signal]);
    const result = (
      outcome: Pick<AttemptResult, 'responseStatus' | 'failure'>,
      retryAfter?: string,
    ): AttemptResult => ({
      ...outcome,
      durationMs: Math.round(performance.now() - startMs),
      retryAfterSeconds: readRetryAfter(retryAfter, new Date()),
    });
    try {
      const { status, retryAfter } = await this.#post(event, signal);
      return result({ responseStatus: status, failure: failureOfStatus(status) }, retryAfter);
    } catch (error) {
      if (this.#interruption.signal.aborted) return null;
      return result({ responseStatus: null, failure: timeout.aborted ? 'timeout' : failureOfError(error) });
    }
  }

  /** Aborts all current attempts and every new one. */
  interrupt(): void {
    this.#interruption.abort();
  }

  async #post(event: OutgoingEvent, signal: AbortSignal): Promise<EndpointResponse> {
    signal.throwIfAborted();
    const url = new URL(event.url);
    const addresses = await this.#guard.addressesOf(url, signal);
    signal.throwIfAborted();
    return post(url, event.body, {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Framelane-Webhooks/1.0',
        ...signedHeaders({ id: event.id, sentAt: new Date(), body: event.body }, event.secrets),
      },
      lookup: lookupOf(addresses),
      autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS,
      signal,
    });
  }
}

/** Sends a body and resolves with the response. Redirects are not followed. */
function post(url: URL, body: string, options: PostOptions): Promise<EndpointResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<EndpointResponse>();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // No agent, because it would reuse connections, and the guard must allow the address of each one.
  const request = send(url, { ...options, method: 'POST', agent: false });
  let received: EndpointResponse | undefined;
  let failure = new Error('The connection was closed without a response');
  request.on('response', (response) => {
    received = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
    discard(response);
  });
  request.on('error', (error) => {
    failure = error;
  });
  // Once the head of the response has arrived, errors of the connection do not matter.
  request.on('close', () => (received === undefined ? reject(failure) : resolve(received)));
  request.end(body);
  return promise;
}

function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on('error', () => {});
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > RESPONSE_BYTES) response.destroy();
  });
}
