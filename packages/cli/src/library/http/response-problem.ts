import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { TransferError } from './transfer-error.ts';

const TEMPORARY = [408, 425, 429, 500, 502, 503, 504];

/** The error of a response without success. `server` names who sent it; `denied` says what to do about 401 and 403. */
export function responseProblem(
  { statusCode: status = 0, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  { server, denied }: { server: string; denied: string },
): TransferError {
  const facts = { status, temporary: TEMPORARY.includes(status), retryAfterMs: retryAfterMs(headers) };
  if (status === 401 || status === 403)
    return new TransferError(`${server} refuses the request (status ${status}). ${denied}`, facts);
  if (status === 404 || status === 410)
    return new TransferError(`${server} has not found it (status ${status}).`, facts);
  if (status === 429)
    return new TransferError(`${server} still limits the rate of requests. Try again later.`, facts);
  return new TransferError(`${server} responds with the status ${status}. Try again later.`, facts);
}

/** `Retry-After` (RFC 9110 §10.2.3), or the header of api.video. */
export function retryAfterMs(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const value = headers['retry-after'] ?? headers['x-ratelimit-retry-after']?.toString();
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const ms = /^[A-Z]/i.test(value) ? Date.parse(value) - now : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
