import { types } from 'node:util';
import type { DeliveryFailure } from '../db/schema.ts';
import { EndpointRefusedError } from './endpoint-guard.ts';
import { HostNotFoundError } from './resolve-host.ts';

/** Why an attempt failed, for people. Nothing here tells what a name stands for or what answered in its place. */
export const FAILURE_MESSAGES: Readonly<Record<DeliveryFailure, string>> = {
  timeout: 'The receiver took too long.',
  host_not_found: 'The host name has no address.',
  address_not_allowed: 'The receiver is at an address that events are not sent to.',
  connection_refused: 'The receiver refused the connection.',
  connection_failed: 'The connection failed or was closed without an answer.',
  tls_failed: 'No secure connection came about; is the certificate valid?',
  redirected: 'The receiver answered with a redirect, which is not followed.',
  unexpected_status: 'The receiver did not answer with a 2xx status.',
  gone: 'The receiver answered 410 Gone, so the webhook was disabled.',
  webhook_disabled: 'The webhook was disabled before the event was delivered.',
};

/** Why this answer does not count as received; null when it does. */
export function failureOfStatus(status: number): DeliveryFailure | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'unexpected_status';
}

/** Why no answer came. */
export function failureOfError(error: unknown): DeliveryFailure {
  if (error instanceof HostNotFoundError) return 'host_not_found';
  if (error instanceof EndpointRefusedError) return 'address_not_allowed';
  const code = types.isNativeError(error) && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'connection_refused';
  return /CERT|SSL|TLS|SELF_SIGNED|LEAF_SIGNATURE|EPROTO/.test(code) ? 'tls_failed' : 'connection_failed';
}
