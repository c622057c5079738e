import type { IncomingHttpHeaders } from 'node:http';
import { MAX_METADATA_LENGTH } from '@framelane/contracts/internal-api';
import { Problem } from '@framelane/service-kit/problem';
import { fileEmpty } from '../uploads/upload-problems.ts';

/** The version of the protocol: https://tus.io/protocols/resumable-upload, 1.0.0. */
export const TUS_VERSION = '1.0.0';

export const TUS_EXTENSIONS = 'creation,creation-with-upload,expiration,termination,checksum';

/** Algorithms of the checksum extension, by their names in `node:crypto`. */
export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'md5'] as const;

/** The media type of a body with a part of the file. */
export const PART_MEDIA_TYPE = 'application/offset+octet-stream';

export type Checksum = { algorithm: (typeof CHECKSUM_ALGORITHMS)[number]; digest: Buffer };

/** What a creation announces. */
export type Creation = { length: number; metadata: string };

/** Throws a 412 Problem unless the client speaks our version. */
export function requireVersion(headers: IncomingHttpHeaders): void {
  if (headers['tus-resumable'] === TUS_VERSION) return;
  throw new Problem('tus_version_unsupported', `Send "Tus-Resumable: ${TUS_VERSION}".`, {
    headers: { 'Tus-Version': TUS_VERSION },
  });
}

/** The headers of a creation. Throws a 400 Problem for extensions that are not supported. */
export function readCreation(headers: IncomingHttpHeaders): Creation {
  // A client retries a 501, so the status is 400.
  if (headers['upload-concat'] !== undefined)
    throw invalid('Upload-Concat is not supported: send one upload.');
  if (headers['upload-defer-length'] !== undefined) {
    throw invalid('Upload-Defer-Length is not supported: send Upload-Length.');
  }
  const length = readNumber(headers, 'upload-length');
  if (length === 0) throw fileEmpty();
  const metadata = String(headers['upload-metadata'] ?? '');
  if (metadata.length > MAX_METADATA_LENGTH) {
    throw invalid(`Upload-Metadata must have at most ${MAX_METADATA_LENGTH} characters.`);
  }
  return { length, metadata };
}

/** The `Upload-Offset` of a request. */
export function readOffset(headers: IncomingHttpHeaders): number {
  return readNumber(headers, 'upload-offset');
}

/** Throws a 415 Problem unless the body is a part of the file. */
export function requirePart(headers: IncomingHttpHeaders): void {
  if (headers['content-type'] === PART_MEDIA_TYPE) return;
  throw new Problem('unsupported_media_type', `Send the bytes with "Content-Type: ${PART_MEDIA_TYPE}".`);
}

/** The `Upload-Checksum` of a request; null without one. */
export function readChecksum(headers: IncomingHttpHeaders): Checksum | null {
  const value = headers['upload-checksum'];
  if (value === undefined) return null;
  const [name, encoded = ''] = String(value).split(' ');
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === name);
  if (algorithm === undefined) {
    throw invalid(`Upload-Checksum must use one of ${CHECKSUM_ALGORITHMS.join(', ')}.`);
  }
  return { algorithm, digest: Buffer.from(encoded, 'base64') };
}

function readNumber(headers: IncomingHttpHeaders, name: 'upload-length' | 'upload-offset'): number {
  const value = String(headers[name] ?? '');
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  const header = name === 'upload-length' ? 'Upload-Length' : 'Upload-Offset';
  throw invalid(`${header} must be a whole number of bytes.`);
}

function invalid(detail: string): Problem {
  return new Problem('validation_failed', detail);
}
