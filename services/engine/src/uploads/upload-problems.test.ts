import { Problem } from '@framelane/service-kit/problem';
import { describe, expect, test } from '@jest/globals';
import * as problems from './upload-problems.ts';

const cause = new Error('Failed');

/** Clients of the upload decide by the status and the code whether they send the file again. */
test.each([
  ['tokenMissing', problems.tokenMissing(), 401, 'upload_token_missing'],
  ['tokenInvalid', problems.tokenInvalid(), 401, 'upload_token_invalid'],
  ['notMultipart', problems.notMultipart(), 415, 'unsupported_media_type'],
  ['malformedMultipart', problems.malformedMultipart('Malformed.'), 400, 'malformed_multipart'],
  ['fileMissing', problems.fileMissing(), 400, 'file_missing'],
  ['fileEmpty', problems.fileEmpty(), 400, 'file_empty'],
  ['multipleFiles', problems.multipleFiles(), 400, 'multiple_files'],
  ['fileTooLarge', problems.fileTooLarge(5), 413, 'file_too_large'],
  ['clientDisconnected', problems.clientDisconnected(), 400, 'upload_interrupted'],
  ['uploadTimeout', problems.uploadTimeout('Too slow.'), 408, 'upload_timeout'],
  ['uploadCancelled', problems.uploadCancelled(), 409, 'upload_cancelled'],
  ['engineStopping', problems.engineStopping(), 503, 'unavailable'],
  ['tooManyUploads', problems.tooManyUploads(), 503, 'unavailable'],
  ['offsetMismatch', problems.offsetMismatch(7), 409, 'upload_offset_mismatch'],
  ['uploadLocked', problems.uploadLocked(cause), 423, 'upload_locked'],
  ['uploadTakenOver', problems.uploadTakenOver(), 409, 'upload_offset_mismatch'],
  ['uploadNotResumable', problems.uploadNotResumable(cause), 410, 'upload_ended'],
  ['checksumMismatch', problems.checksumMismatch(), 460, 'checksum_mismatch'],
  ['bodyTooLong', problems.bodyTooLong(), 413, 'body_too_large'],
  ['storageFull', problems.storageFull(), 507, 'insufficient_storage'],
])('%s has its status and code', (_, { status, code }, expectedStatus, expectedCode) => {
  expect([status, code]).toEqual([expectedStatus, expectedCode]);
});

test.each([
  ['the limit of a file', problems.fileTooLarge(5), 'Send at most 5 bytes.', { maxBytes: 5 }],
  ['the offset of an upload', problems.offsetMismatch(7), 'continues at byte 7.', { offset: 7 }],
  [
    'the limit that the client missed',
    problems.uploadTimeout('Too slow.'),
    /^Too slow\. The upload/,
    undefined,
  ],
  ['what is malformed', problems.malformedMultipart('Malformed.'), /^Malformed\.$/, undefined],
])('a problem has %s', (_, problem, message, extra) => {
  expect(problem.message).toMatch(message);
  expect(problem.options.extra).toEqual(extra);
});

test.each([
  ['engineStopping', problems.engineStopping()],
  ['tooManyUploads', problems.tooManyUploads()],
  ['uploadTimeout', problems.uploadTimeout('Too slow.')],
  ['storageFailed', problems.storageFailed(cause)],
])('%s says that the client can use the token again', (_, { message }) => {
  expect(message).toMatch(/[a-z]\. The upload token stays valid: send the file again\.$/);
});

test.each([
  ['malformedMultipart', problems.malformedMultipart('Malformed.', cause)],
  ['uploadLocked', problems.uploadLocked(cause)],
  ['uploadTakenOver', problems.uploadTakenOver(cause)],
  ['uploadNotResumable', problems.uploadNotResumable(cause)],
  ['storageFull', problems.storageFull(cause)],
  ['storageFailed', problems.storageFailed(cause)],
])('%s has the cause for the log', (_, problem) => {
  expect(problem.cause).toBe(cause);
});

describe('an error of the object store', () => {
  const withCode = (code: string) => Object.assign(new Error('Failed'), { code });
  const withName = (name: string) => Object.assign(new Error('Failed'), { name });

  test('that is a problem stays the same', () => {
    const problem = new Problem('unavailable', 'Unavailable.', { cause: withCode('ENOSPC') });
    expect(problems.storageFailed(problem)).toBe(problem);
  });

  test.each([
    ['the code of a full disk', withCode('ENOSPC')],
    ['the code of an exhausted quota', withCode('EDQUOT')],
    ['the code of a file that is too large', withCode('EFBIG')],
    ['the name of a full MinIO server', withName('XMinioStorageFull')],
    ['the name of a full S3 server', withName('InsufficientStorage')],
    ['such a cause', new Error('Failed', { cause: withCode('ENOSPC') })],
    [
      'such a cause of its cause',
      new Error('Failed', { cause: new Error('', { cause: withCode('EDQUOT') }) }),
    ],
  ])('with %s says that the storage is full', (_, error) => {
    expect(problems.storageFailed(error)).toMatchObject({ code: 'insufficient_storage', cause: error });
  });

  test.each([
    ['another code', withCode('EIO')],
    ['a longer code', withCode('ENOSPC2')],
    ['a longer name', withName('NotInsufficientStorage')],
    ['the code in its text only', new Error('ENOSPC')],
    ['no type', { code: 'ENOSPC' }],
    ['no value', undefined],
  ])('with %s says that the file could not be stored', (_, error) => {
    expect(problems.storageFailed(error).code).toBe('unavailable');
  });
});
