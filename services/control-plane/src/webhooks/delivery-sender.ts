import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TcpNetConnectOpts } from 'node:net';
import { type AddressGuard, CONNECT_ATTEMPT_MS, lookupOf } from '@framelane/address-guard/address-guard';
import { readRetryAfter } from '@framelane/service-kit/retry-after';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import type { Clock } from '../db/database-clock.ts';
import type { DeliveryFailure } from '../db/schema.ts';
import { failureOfError, failureOfStatus } from './delivery-failures.ts';
import { signedHeaders } from './endpoint-secret.ts';

/** The sender closes the connection after this many bytes of the response body, more than usual endpoints send. */
const RESPONSE_BYTES = 4096;

/** The bytes of a response body that are kept, so that the owner of an endpoint can see why it failed. */
const KEPT_BYTES = 1024;

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
export type DeliveryAttemptResult = {
  durationMs: number;
  /** The headers that were sent, without the signature; null if no address of the endpoint was found or allowed. */
  requestHeaders: Record<string, string> | null;
  /** Null without a response. */
  responseStatus: number | null;
  /** The beginning of the response body as text; null without a response. */
  responseBody: string | null;
  /** Null after a 2xx response. */
  failure: DeliveryFailure | null;
  /** The pause that the endpoint requests with Retry-After. */
  retryAfterSeconds: number | null;
};

/** Node passes options that it does not know to the socket. */
type PostOptions = RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'>;

type EndpointResponse = { status: number; retryAfter: string | undefined; body: Buffer };

/** Sends events. Each request has its own connection, to an address that the guard has just allowed. */
export class DeliverySender {
  readonly #guard: AddressGuard;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #interruption = new AbortController();

  constructor(deps: { guard: AddressGuard; timeoutSeconds: number; clock: Clock }) {
    this.#guard = deps.guard;
    this.#clock = deps.clock;
    this.#timeoutMs = deps.timeoutSeconds * 1000;
  }

  /**
   * Makes one attempt. Never rejects because of the endpoint. Resolves with null if `interrupt` was called: the attempt has no
   * result and must be made again.
   */
  async send(event: OutgoingEvent): Promise<DeliveryAttemptResult | null> {
    const startMs = performance.now();
    const traceparent = activeTraceparent();
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = AbortSignal.any([timeout, this.#interruption.signal]);
    let requestHeaders: DeliveryAttemptResult['requestHeaders'] = null;
    const result = (
      outcome: Pick<DeliveryAttemptResult, 'responseStatus' | 'responseBody' | 'failure'>,
      retryAfter?: string,
    ): DeliveryAttemptResult => ({
      ...outcome,
      requestHeaders,
      durationMs: Math.round(performance.now() - startMs),
      retryAfterSeconds: readRetryAfter(retryAfter, this.#clock.now()),
    });
    try {
      const url = new URL(event.url);
      const addresses = await this.#addressesOf(url, signal);
      const proof = signedHeaders(
        { id: event.id, sentAt: this.#clock.now(), body: event.body },
        event.secrets,
      );
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Framelane-Webhooks/1.0',
        ...(traceparent !== undefined && { traceparent }),
        ...proof,
      };
      // With the signature, whoever reads a delivery could send it again while its timestamp is accepted.
      const { 'webhook-signature': _, ...shown } = headers;
      requestHeaders = shown;
      const { status, retryAfter, body } = await post(url, event.body, {
        headers,
        lookup: lookupOf(addresses),
        autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS,
        signal,
      });
      const failure = failureOfStatus(status);
      return result({ responseStatus: status, responseBody: textOf(body), failure }, retryAfter);
    } catch (error) {
      if (this.#interruption.signal.aborted) return null;
      const failure = timeout.aborted ? 'timeout' : failureOfError(error);
      return result({ responseStatus: null, responseBody: null, failure });
    }
  }

  /** Aborts all current attempts and every new one. */
  interrupt(): void {
    this.#interruption.abort();
  }

  async #addressesOf(url: URL, signal: AbortSignal): ReturnType<AddressGuard['addressesOf']> {
    signal.throwIfAborted();
    const addresses = await this.#guard.addressesOf(url, signal);
    signal.throwIfAborted();
    return addresses;
  }
}

/** Sends a body and resolves with the response. Redirects are not followed. */
function post(url: URL, body: string, options: PostOptions): Promise<EndpointResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<EndpointResponse>();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // No agent, because it would reuse connections, and the guard must allow the address of each one.
  const request = send(url, { ...options, method: 'POST', agent: false });
  let head: Omit<EndpointResponse, 'body'> | undefined;
  let beginning: Buffer = Buffer.alloc(0);
  let failure = new Error('The connection was closed without a response');
  request.on('response', (response) => {
    head = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
    readBeginning(response, (bytes) => {
      beginning = bytes;
    });
  });
  request.on('error', (error) => {
    failure = error;
  });
  // Once the head of the response has arrived, errors of the connection do not matter.
  request.on('close', () => (head === undefined ? reject(failure) : resolve({ ...head, body: beginning })));
  request.end(body);
  return promise;
}

/** Reads a body and calls back with its beginning, as far as it has arrived. */
function readBeginning(response: IncomingMessage, onBeginning: (beginning: Buffer) => void): void {
  let bytes = 0;
  let beginning: Buffer = Buffer.alloc(0);
  response.on('error', () => {});
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (beginning.byteLength < KEPT_BYTES) {
      beginning = Buffer.concat([beginning, chunk]).subarray(0, KEPT_BYTES);
      onBeginning(beginning);
    }
    if (bytes > RESPONSE_BYTES) response.destroy();
  });
}

/** A body as text. An incomplete character at its end is left out; PostgreSQL does not store the character NUL. */
function textOf(body: Buffer): string {
  return new TextDecoder().decode(body, { stream: true }).replaceAll('\0', '\uFFFD');
}
