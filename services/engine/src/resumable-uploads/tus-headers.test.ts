import { MAX_METADATA_LENGTH } from '@framelane/contracts/internal-api';
import { Problem } from '@framelane/service-kit/problem';
import { describe, expect, test } from '@jest/globals';
import { readChecksum, readCreation, readOffset, requirePart, requireVersion } from './tus-headers.ts';

/** The Problem that a function throws. */
function problemOf(read: () => unknown): Problem {
  try {
    read();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('No Problem was thrown');
}

test('only version 1.0.0 is accepted, and the response names it', () => {
  requireVersion({ 'tus-resumable': '1.0.0' });
  for (const headers of [{}, { 'tus-resumable': '0.2.2' }])
    expect(problemOf(() => requireVersion(headers))).toMatchObject({
      code: 'tus_version_unsupported',
      options: { headers: { 'Tus-Version': '1.0.0' } },
    });
});

describe('a creation', () => {
  test('has a length, and metadata if there are any', () => {
    expect(readCreation({ 'upload-length': '5' })).toEqual({ length: 5, metadata: '' });
    const metadata = 'a'.repeat(MAX_METADATA_LENGTH);
    const headers = { 'upload-length': '999999999999999', 'upload-metadata': metadata };
    expect(readCreation(headers)).toEqual({ length: 999_999_999_999_999, metadata });
  });

  test.each([
    ['several uploads in one', { 'upload-concat': 'partial' }, 'Upload-Concat is not supported'],
    ['a length that follows later', { 'upload-defer-length': '1' }, 'Upload-Defer-Length is not supported'],
    [
      'more metadata',
      { 'upload-metadata': 'a'.repeat(MAX_METADATA_LENGTH + 1) },
      `Upload-Metadata must have at most ${MAX_METADATA_LENGTH} characters`,
    ],
    ['no length', { 'upload-length': undefined }, 'Upload-Length must be a whole number'],
    ['a fraction', { 'upload-length': '1.5' }, 'Upload-Length must be a whole number'],
    ['a length with other characters', { 'upload-length': '5 ' }, 'Upload-Length must be a whole number'],
    [
      'a length of 16 digits',
      { 'upload-length': '1000000000000000' },
      'Upload-Length must be a whole number',
    ],
  ])('with %s is refused', (_, headers, detail) => {
    const { code, message } = problemOf(() => readCreation({ 'upload-length': '5', ...headers }));
    expect([code, message]).toEqual(['validation_failed', expect.stringContaining(detail)]);
  });

  test('of an empty file is refused', () => {
    expect(problemOf(() => readCreation({ 'upload-length': '0' })).code).toBe('file_empty');
  });
});

test('the offset is a whole number', () => {
  expect(readOffset({ 'upload-offset': '0' })).toBe(0);
  expect(problemOf(() => readOffset({ 'upload-offset': '-1' })).message).toMatch(
    'Upload-Offset must be a whole number',
  );
});

test('a part has the media type of the protocol', () => {
  requirePart({ 'content-type': 'application/offset+octet-stream' });
  expect(problemOf(() => requirePart({ 'content-type': 'video/mp4' })).code).toBe('unsupported_media_type');
});

test('a checksum has a known algorithm', () => {
  expect(readChecksum({})).toBeNull();
  expect(readChecksum({ 'upload-checksum': 'md5 AAEC' })).toEqual({
    algorithm: 'md5',
    digest: Buffer.from([0, 1, 2]),
  });
  expect(readChecksum({ 'upload-checksum': 'sha1' })?.digest).toHaveLength(0);
  expect(problemOf(() => readChecksum({ 'upload-checksum': 'crc32 AAEC' })).message).toMatch(
    'sha1, sha256, md5',
  );
});
