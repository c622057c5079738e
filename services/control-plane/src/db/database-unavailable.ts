import { types } from 'node:util';

/** System errors of a server that is unreachable, or whose name cannot be resolved. */
const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  // The DNS server does not respond, or reports a temporary failure.
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'EPIPE',
]);

/**
 * SQLSTATEs of a server that refuses or closes connections, or that has become a standby: class 08 (connection exception),
 * too_many_connections, read_only_sql_transaction, idle_in_transaction_session_timeout, and 57P01 to 57P03 (the server stops or starts).
 */
const CONNECTION_STATES = /^(08\w{3}|53300|25006|25P03|57P0[123])$/;

/** SQLSTATE query_canceled: the statement reached `statement_timeout`. */
const QUERY_CANCELED = '57014';

/** The message of pg when `query_timeout` has passed. */
const RESPONSE_TIMEOUT = 'Query read timeout';

/**
 * Messages of pg's errors without a code: the connection ended; the pool provided no connection before its timeout; a rollback
 * found its connection ended.
 */
const CONNECTION_MESSAGES = /connection terminated|timeout exceeded when trying to connect|is not queryable/i;

/** Whether the database is unavailable at present: a retry may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = codeOf(error);
  return (
    UNREACHABLE_CODES.has(code) ||
    CONNECTION_STATES.test(code) ||
    CONNECTION_MESSAGES.test(error.message) ||
    isResponseTimeout(error)
  );
}

/** Whether the database did not respond to a query before `query_timeout`. */
export function isResponseTimeout(error: unknown): boolean {
  return types.isNativeError(error) && error.message === RESPONSE_TIMEOUT;
}

/** Whether a statement reached its timeout: the database is overloaded, a lock is held, or the statement is too slow. */
export function isTooSlow(error: unknown): boolean {
  return types.isNativeError(error) && codeOf(error) === QUERY_CANCELED;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
