import { types } from 'node:util';

/** System errors of an unreachable server. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'EPIPE',
]);

/** SQLSTATE of connection errors (class 08), too many connections, an idle transaction ended, and a server that stops or starts. */
const REFUSING = /^(08\w{3}|53300|25P03|57P0[123])$/;

/** SQLSTATE query_canceled: the statement reached its time limit. */
const CANCELED = '57014';

/** The message of pg when `query_timeout` has passed. */
const OVERDUE = 'Query read timeout';

/**
 * Messages of pg without a code: a connection ended, or the pool had none in time. The last one comes from the rollback of
 * a transaction whose connection has ended.
 */
const LOST = /connection terminated|timeout exceeded when trying to connect|is not queryable/i;

/** Whether the database is unreachable now: the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = codeOf(error);
  return UNREACHABLE.has(code) || REFUSING.test(code) || LOST.test(error.message) || isOverdue(error);
}

/** Whether the response of the database is overdue. */
export function isOverdue(error: unknown): boolean {
  return types.isNativeError(error) && error.message === OVERDUE;
}

/** Whether a statement reached its time limit: the database is overloaded, a lock is held, or the statement is too slow. */
export function isTooSlow(error: unknown): boolean {
  return types.isNativeError(error) && codeOf(error) === CANCELED;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
