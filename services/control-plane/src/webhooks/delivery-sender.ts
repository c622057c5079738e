import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import type { DeliveryFailure } from '../db/schema.ts';
import { failureOfError, failureOfStatus } from './delivery-failures.ts';
import { readRetryAfter } from './delivery-policy.ts';
import type { EndpointGuard } from './endpoint-guard.ts';
import { signedHeaders } from './endpoint-secret.ts';

/** So much of an answer is read, and thrown away: an ordinary receiver then sees its answer taken. */
const ANSWER_BYTES = 4096;

/** A host with several addresses is tried at the next one after so long. */
const CONNECT_ATTEMPT_MS = 2000;

/** An event on its way to one receiver. */
export type OutgoingEvent = {
  url: string;
  /** Id of the event, the same in every attempt. */
  id: string;
  body: string;
  /** Those that sign: one, or two while a secret is being replaced. */
  secrets: readonly Uint8Array[];
};

/** How one attempt went. */
export type Attempt = {
  durationMs: number;
  /** Null when no answer came. */
  responseStatus: number | null;
  /** Null when it was received. */
  failure: DeliveryFailure | null;
  /** How long the receiver asks to be left alone. */
  retryAfterSeconds: number | null;
};

/** Node hands what it does not know on to the socket. */
type PostOptions = RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'>;

type Answer = { status: number; retryAfter: string | undefined };

/** Sends events: one request and one connection each, to addresses that were judged for that connection. */
export class DeliverySender {
  readonly #guard: EndpointGuard;
  readonly #timeoutMs: number;
  readonly #interruption = new AbortController();

  constructor(deps: { guard: EndpointGuard; timeoutSeconds: number }) {
    this.#guard = deps.guard;
    this.#timeoutMs = deps.timeoutSeconds * 1000;
  }

  /**
   * Makes one attempt and resolves with how it went; a receiver cannot make it reject. Resolves with null when it was
   * interrupted: then it counts for nothing and has to be made again.
   */
  async send(event: OutgoingEvent): Promise<Attempt | null> {
    const begun = performance.now();
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = AbortSignal.any([timeout, this.#interruption.signal]);
    const result = (attempt: Pick<Attempt, 'responseStatus' | 'failure'>, retryAfter?: string): Attempt => ({
      ...attempt,
      durationMs: Math.round(performance.now() - begun),
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

  /** Breaks off every attempt under way, and from now on each new one. */
  interrupt(): void {
    this.#interruption.abort();
  }

  async #post(event: OutgoingEvent, signal: AbortSignal): Promise<Answer> {
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

/** Sends a body and resolves with the answer. Redirects are answers like any other. */
function post(url: URL, body: string, options: PostOptions): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // An agent would keep connections, and each has to be judged anew.
  const request = send(url, { ...options, method: 'POST', agent: false });
  let answer: Answer | undefined;
  let failure = new Error('The connection was closed without an answer');
  request.on('response', (response) => {
    answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
    discard(response);
  });
  request.on('error', (error) => {
    failure = error;
  });
  // Once the receiver has answered, nothing that happens to the connection changes what it said.
  request.on('close', () => (answer === undefined ? reject(failure) : resolve(answer)));
  request.end(body);
  return promise;
}

function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on('error', () => {});
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES) response.destroy();
  });
}

/** A look-up that knows these addresses alone. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = entries;
    if (options.all || first === undefined) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}
