import { types } from 'node:util';

/** System errors of a server that cannot be reached. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'EPIPE',
]);

/**
 * SQLSTATE of connection errors (class 08), too many connections, a transaction that stood still for too long, and a server
 * that stops or starts.
 */
const REFUSING = /^(08\w{3}|53300|25P03|57P0[123])$/;

/** SQLSTATE query_canceled, which is what becomes of a statement at its time limit. */
const CANCELED = '57014';

/** What pg says when an answer did not come within `query_timeout`. */
const OVERDUE = 'Query read timeout';

/**
 * What pg says without a code when a connection ends, or none is to be had in time. The last is what a transaction fails
 * with whose connection has ended: its rollback, too, is sent there.
 */
const LOST = /connection terminated|timeout exceeded when trying to connect|is not queryable/i;

/** Whether an error means that the database cannot be reached now: the same request may succeed later. */
export function isDatabaseAway(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = codeOf(error);
  return UNREACHABLE.has(code) || REFUSING.test(code) || LOST.test(error.message) || isOverdue(error);
}

/** Whether an error means that the database did not answer in time. */
export function isOverdue(error: unknown): boolean {
  return types.isNativeError(error) && error.message === OVERDUE;
}

/**
 * Whether an error means that the database did not get done with a statement within its time: it has much to do, somebody
 * holds a lock, or the statement always takes that long.
 */
export function isTooSlow(error: unknown): boolean {
  return types.isNativeError(error) && codeOf(error) === CANCELED;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
