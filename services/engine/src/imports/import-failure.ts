import { types } from 'node:util';
import { AddressRefusedError } from '@framelane/address-guard/address-guard';
import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import type { ImportTryFailure } from '@framelane/contracts/internal-api';

/** Maximum number of tries of one import. */
const MAX_TRIES = 5;

/** The longest Retry-After that an import waits for, in seconds. */
const LONGEST_PAUSE_SECONDS = 600;

/** Why a try of an import failed. The `cause` is for the log only. */
export class ImportFailure extends Error {
  override name = 'ImportFailure';
  readonly code: ImportTryFailure;
  /** Whether another try may succeed. */
  readonly retryable: boolean;
  /** The pause that the server requests with Retry-After; 0 without one. */
  readonly retryAfterSeconds: number;
  /** Whether the bytes received so far must be discarded. */
  readonly startsOver: boolean;

  constructor(
    code: ImportTryFailure,
    options: { retryable?: boolean; retryAfterSeconds?: number; startsOver?: boolean; cause?: unknown } = {},
  ) {
    super(code, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds ?? 0;
    this.startsOver = options.startsOver ?? false;
  }
}

/** The failure for an error of a connection. */
export function toImportFailure(error: unknown): ImportFailure {
  if (error instanceof ImportFailure) return error;
  if (error instanceof AddressRefusedError) {
    return new ImportFailure('import_address_refused', { cause: error });
  }
  if (error instanceof HostNotFoundError) {
    return new ImportFailure('import_host_not_found', { retryable: true, cause: error });
  }
  const code = types.isNativeError(error) && 'code' in error ? String(error.code) : '';
  if (/CERT|SSL|TLS|SELF_SIGNED|LEAF_SIGNATURE|INVALID_(CA|PURPOSE)|PATH_LENGTH|EPROTO/.test(code)) {
    return new ImportFailure('import_tls_failed', { cause: error });
  }
  // The parser of Node refused the response.
  if (/^HPE_/.test(code)) return new ImportFailure('import_server_failed', { retryable: true, cause: error });
  return new ImportFailure('import_unreachable', { retryable: true, cause: error });
}

/**
 * Seconds until the next try, or null if no try follows. `tries` counts the failed tries, this one included; `pauses` are the
 * seconds after the first failed try, the second, and so on.
 */
export function pauseAfter(failure: ImportFailure, tries: number, pauses: readonly number[]): number | null {
  if (!failure.retryable || tries >= MAX_TRIES) return null;
  const pause = pauses[Math.min(tries, pauses.length) - 1] ?? 0;
  return Math.max(pause, Math.min(failure.retryAfterSeconds, LONGEST_PAUSE_SECONDS));
}
