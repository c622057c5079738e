import { types } from 'node:util';
import { AddressRefusedError } from '@framelane/address-guard/address-guard';
import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import type { DeliveryFailure } from '../db/schema.ts';

/** Why an attempt failed, for people. The messages reveal no address and nothing of the response. */
export const FAILURE_MESSAGES: Readonly<Record<DeliveryFailure, string>> = {
  timeout: 'The endpoint did not respond within the time limit.',
  host_not_found: 'The host name does not resolve to an address.',
  address_not_allowed: 'The endpoint has an address that events may not be sent to.',
  connection_refused: 'The endpoint refused the connection.',
  connection_failed: 'The connection failed, or was closed without a response.',
  tls_failed: 'The TLS handshake failed. Check the certificate.',
  redirected: 'The endpoint responded with a redirect, which is not followed.',
  unexpected_status: 'The endpoint did not respond with a 2xx status.',
  gone: 'The endpoint responded with 410 Gone, so the webhook was disabled.',
  webhook_disabled: 'The webhook was disabled before the event was delivered.',
};

/** Why a response with this status is a failure; null when it is a success. */
export function failureOfStatus(status: number): DeliveryFailure | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'unexpected_status';
}

/** Why there was no response. */
export function failureOfError(error: unknown): DeliveryFailure {
  if (error instanceof HostNotFoundError) return 'host_not_found';
  if (error instanceof AddressRefusedError) return 'address_not_allowed';
  const code = types.isNativeError(error) && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'connection_refused';
  return /CERT|SSL|TLS|SELF_SIGNED|LEAF_SIGNATURE|EPROTO/.test(code) ? 'tls_failed' : 'connection_failed';
}
