import type { IncomingHttpHeaders } from 'node:http';
import { readRetryAfter } from '@framelane/service-kit/retry-after';
import { ImportFailure } from './import-failure.ts';

/**
 * A Last-Modified identifies a version of the file if it is at least this long before the Date of the response. RFC 9110 §8.8.2.2
 * asks for a second; a minute allows for two clocks that differ.
 */
const STRONG_DATE_MS = 60_000;

/** The head of a response. */
export type ResponseHead = { statusCode?: number | undefined; headers: IncomingHttpHeaders };

/** Identifies a version of the file, byte for byte. */
export type Validator = { name: 'etag' | 'last-modified'; value: string };

/** Facts about the file from the first response. */
export type RemoteFacts = { totalBytes: number | null; validator: Validator | null };

/** The strong ETag, or a Last-Modified that is old enough; null without either. */
export function validatorOf(headers: IncomingHttpHeaders): Validator | null {
  const { etag, 'last-modified': modified, date } = headers;
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? { name: 'etag', value: etag } : null;
  if (modified === undefined || date === undefined) return null;
  const isOld = Date.parse(date) - Date.parse(modified) >= STRONG_DATE_MS;
  return isOld ? { name: 'last-modified', value: modified } : null;
}

/** Reads the response to a request for the whole file. Throws an ImportFailure unless it has the file. */
export function readWhole({ statusCode = 0, headers }: ResponseHead, maxBytes: number): RemoteFacts {
  if (statusCode !== 200) throw failureOfStatus(statusCode, headers);
  requireIdentity(headers);
  const length = headers['content-length'];
  const totalBytes = length === undefined ? null : Number(length);
  if (totalBytes === 0) throw new ImportFailure('import_empty');
  if (totalBytes !== null && totalBytes > maxBytes) throw new ImportFailure('import_too_large');
  return { totalBytes, validator: validatorOf(headers) };
}

/**
 * Reads the response to a request for the rest of the file from `start` on. Throws an ImportFailure unless it has exactly these bytes
 * of the same version. Returns the size of the file.
 */
export function readRest(
  { statusCode = 0, headers }: ResponseHead,
  start: number,
  facts: RemoteFacts,
): number {
  if (statusCode === 416) throw changed();
  if (statusCode === 200) {
    // The server supports no ranges, or the file has changed.
    const current = validatorOf(headers);
    throw current?.value === facts.validator?.value
      ? new ImportFailure('import_incomplete', { retryable: true, startsOver: true })
      : changed();
  }
  if (statusCode !== 206) throw failureOfStatus(statusCode, headers);
  requireIdentity(headers);
  const total = totalOfRest(headers, start);
  if (facts.totalBytes !== null && total !== facts.totalBytes) throw changed();
  if (!isVersion(headers, facts.validator)) throw changed();
  return total;
}

/** The size of the file. Throws an ImportFailure unless the response has the bytes from `start` to the end. */
function totalOfRest(headers: IncomingHttpHeaders, start: number): number {
  const range = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(headers['content-range'] ?? '');
  const [first, last, total] = (range ?? []).slice(1).map(Number);
  const length = headers['content-length'];
  const isRest = total !== undefined && first === start && last === total - 1;
  if (!isRest || (length !== undefined && Number(length) !== total - start)) {
    throw new ImportFailure('import_server_failed', { retryable: true });
  }
  return total;
}

/** A response to If-Range can omit Last-Modified (RFC 9110 §15.3.7), but not the ETag. */
function isVersion(headers: IncomingHttpHeaders, validator: Validator | null): boolean {
  if (validator === null) return false;
  const given = headers[validator.name];
  return given === validator.value || (given === undefined && validator.name === 'last-modified');
}

function requireIdentity(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') throw new ImportFailure('import_encoded');
}

function changed(): ImportFailure {
  return new ImportFailure('import_changed', { retryable: true, startsOver: true });
}

function failureOfStatus(status: number, headers: IncomingHttpHeaders): ImportFailure {
  if (status === 404 || status === 410) return new ImportFailure('import_not_found');
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const retryAfterSeconds = readRetryAfter(headers['retry-after'], new Date()) ?? 0;
    return new ImportFailure('import_server_failed', { retryable: true, retryAfterSeconds });
  }
  if (status >= 400) return new ImportFailure('import_denied');
  return new ImportFailure(status >= 300 ? 'import_redirected' : 'import_server_failed');
}
