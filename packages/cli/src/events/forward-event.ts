import { Webhook } from 'standardwebhooks';
import { errorCode } from '../error-code.ts';
import type { Event } from './follow-events.ts';

/** As long as Framelane waits for an endpoint. */
const TIMEOUT_MS = 15_000;

/** What became of a forwarded event. */
export type Forwarded = { status: number; ms: number } | { problem: string; ms: number };

/** Sends an event as Framelane does: signed by Standard Webhooks 1.0. Never throws unless the signal aborts. */
export async function forwardEvent(
  event: Event,
  { url, secret, signal }: { url: string; secret: string; signal: AbortSignal },
): Promise<Forwarded> {
  const body = JSON.stringify(event);
  const sentAt = new Date();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Framelane-Webhooks/1.0',
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(event.id, sentAt, body),
  };
  const begun = performance.now();
  const elapsed = () => Math.round(performance.now() - begun);
  try {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: timeout });
    // Its body does not matter.
    await response.body?.cancel();
    return { status: response.status, ms: elapsed() };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: problemOf(error), ms: elapsed() };
  }
}

function problemOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { message?: string } };
  if (name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} s`;
  if (errorCode(error) === 'ECONNREFUSED') return 'nothing answers there';
  return cause?.message || 'no response';
}
