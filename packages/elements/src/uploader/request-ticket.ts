import type { UploadTicket } from '@framelane/client';
import { ConnectionError, FramelaneError } from '@framelane/client/browser';
import { parseJson } from './parse-json.ts';

/** What the uploader tells the server of the page about a file. */
export type TicketRequest = { filename: string; size: number; type: string };

/** A ticket that the server of the page got from Framelane. It may have members of the server's own. */
export type Ticket = UploadTicket & Record<string, unknown>;

/** A server that needs longer for a ticket does not answer any more. */
const TIMEOUT_MS = 60_000;

/** The longest text of a server that the uploader shows. */
const LONGEST_DETAIL = 500;

/**
 * Requests a ticket from the server of the page. Throws a FramelaneError. Its `code` is that of the server's problem, `ticket_problem` if that
 * has no code, `ticket_refused` without a problem, `ticket_invalid`, or `connection_failed`.
 */
export async function requestTicket(
  endpoint: string,
  file: File,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Ticket> {
  const { name: filename, size, type } = file;
  const body: TicketRequest = { filename, size, type };
  const { ok, status, text } = await post(endpoint, JSON.stringify(body), timeoutMs);
  const answer = parseJson(text);
  if (!ok) throw refusal(status, answer);
  return ticketOf(answer);
}

/** Rejects with a ConnectionError without a complete response. */
async function post(
  endpoint: string,
  body: string,
  timeoutMs: number,
): Promise<{ ok: boolean; status: number; text: string }> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(endpoint, { method: 'POST', headers, body, signal });
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (error) {
    throw new ConnectionError(endpoint, error);
  }
}

/** Checks what a server or a function of the page gave. */
export function ticketOf(value: unknown): Ticket {
  const ticket: Record<string, unknown> = Object(value);
  const missing = ['videoId', 'uploadUrl', 'tusUrl', 'uploadToken'].filter(
    (name) => typeof ticket[name] !== 'string',
  );
  if (missing.length > 0)
    throw new FramelaneError(
      `The ticket lacks ${missing.join(', ')}. Respond with the whole ticket that POST /v1/videos/upload-ticket returns.`,
      { code: 'ticket_invalid' },
    );
  return ticket as Ticket;
}

/** The error of a response that is not a ticket. `detail` of a problem (RFC 9457) is a text for people. */
export function refusal(status: number, answer: unknown): FramelaneError {
  const { code, detail } = Object(answer);
  if (typeof detail !== 'string' || detail === '')
    return new FramelaneError(`The ticket endpoint responded with ${status}.`, {
      code: 'ticket_refused',
      status,
    });
  const message = detail.slice(0, LONGEST_DETAIL);
  return new FramelaneError(message, { code: typeof code === 'string' ? code : 'ticket_problem', status });
}
