import { AddressRefusedError } from '@framelane/address-guard/address-guard';
import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import { slowOnes } from '@framelane/test-kit/cpu-time';
import { HOSTILE_VALUES } from '@framelane/test-kit/hostile-text';
import { describe, expect, test } from '@jest/globals';
import { ImportFailure, pauseAfter, toImportFailure } from './import-failure.ts';
import { type RemoteFacts, readRest, readWhole, validatorOf } from './remote-response.ts';

const DATE = 'Sat, 21 Nov 2026 09:01:00 GMT';

describe('a validator', () => {
  test.each([
    [{ etag: '"a"' }, { name: 'etag', value: '"a"' }],
    [{ etag: 'W/"a"' }, null],
    [{ etag: 'a' }, null],
    [{ etag: '"a"b' }, null],
    [{ etag: '"' }, null],
    [{ etag: '""' }, { name: 'etag', value: '""' }],
    // A weak ETag says that the bytes may differ, whatever the date says.
    [{ etag: 'W/"a"', 'last-modified': 'Sat, 21 Nov 2026 08:00:00 GMT', date: DATE }, null],
    [
      { 'last-modified': 'Sat, 21 Nov 2026 09:00:00 GMT', date: DATE },
      { name: 'last-modified', value: 'Sat, 21 Nov 2026 09:00:00 GMT' },
    ],
    [{ 'last-modified': 'Sat, 21 Nov 2026 09:00:01 GMT', date: DATE }, null],
    [{ 'last-modified': 'Sat, 21 Nov 2026 09:00:00 GMT' }, null],
    [{ 'last-modified': 'yesterday', date: DATE }, null],
    [{}, null],
  ])('of %j is %j', (headers, validator) => {
    expect(validatorOf(headers)).toEqual(validator);
  });
});

/** What a failure says about the next try. */
function failureOf(read: () => unknown) {
  try {
    return { result: read() };
  } catch (error) {
    const { code, retryable, retryAfterSeconds, startsOver } = error as ImportFailure;
    return { code, retryable, retryAfterSeconds, startsOver };
  }
}

const FINAL = { retryable: false, retryAfterSeconds: 0, startsOver: false };
const RETRYABLE = { ...FINAL, retryable: true };
const STARTS_OVER = { ...RETRYABLE, startsOver: true };

describe('the response to a request for the whole file', () => {
  const whole = (statusCode: number, headers = {}) =>
    failureOf(() => readWhole({ statusCode, headers }, 100));

  test.each([
    [
      { 'content-length': '100', etag: '"a"' },
      { totalBytes: 100, validator: { name: 'etag', value: '"a"' } },
    ],
    [{ 'content-length': '1' }, { totalBytes: 1, validator: null }],
    [{}, { totalBytes: null, validator: null }],
    [{ 'content-encoding': ' Identity ' }, { totalBytes: null, validator: null }],
  ])('has the facts of %j', (headers, facts) => {
    expect(whole(200, headers)).toEqual({ result: facts });
  });

  test.each([
    [{ 'content-length': '0' }, 'import_empty'],
    [{ 'content-length': '101' }, 'import_too_large'],
    [{ 'content-encoding': 'gzip' }, 'import_encoded'],
  ])('with %j is refused', (headers, code) => {
    expect(whole(200, headers)).toEqual({ code, ...FINAL });
  });

  test.each([
    [204, 'import_server_failed', FINAL],
    [300, 'import_redirected', FINAL],
    [304, 'import_redirected', FINAL],
    [400, 'import_denied', FINAL],
    [401, 'import_denied', FINAL],
    [404, 'import_not_found', FINAL],
    [410, 'import_not_found', FINAL],
    [408, 'import_server_failed', RETRYABLE],
    [425, 'import_server_failed', RETRYABLE],
    [429, 'import_server_failed', RETRYABLE],
    [499, 'import_denied', FINAL],
    [500, 'import_server_failed', RETRYABLE],
    [503, 'import_server_failed', RETRYABLE],
  ])('with the status %d', (status, code, rest) => {
    expect(whole(status)).toEqual({ code, ...rest });
  });

  test('without a status is a failure of the server', () => {
    expect(failureOf(() => readWhole({ headers: {} }, 100))).toMatchObject({ code: 'import_server_failed' });
  });

  test('can say when to try again', () => {
    expect(whole(503, { 'retry-after': '7' })).toMatchObject({ retryAfterSeconds: 7 });
  });
});

describe('the response to a request for the rest of the file', () => {
  const ETAG = { name: 'etag', value: '"a"' } as const;
  const OLD = { name: 'last-modified', value: 'Sat, 21 Nov 2026 09:00:00 GMT' } as const;
  const REST = { 'content-range': 'bytes 5-9/10' };
  const rest = (statusCode: number, headers: object, facts: Partial<RemoteFacts> = {}) =>
    failureOf(() =>
      readRest({ statusCode, headers: { ...headers } }, 5, { totalBytes: 10, validator: ETAG, ...facts }),
    );

  test.each<[object, Partial<RemoteFacts>]>([
    [{ ...REST, etag: '"a"' }, {}],
    [{ ...REST, etag: '"a"' }, { totalBytes: null }],
    [{ ...REST, etag: '"a"', 'content-length': '5' }, {}],
    [{ ...REST, 'last-modified': OLD.value }, { validator: OLD }],
    [REST, { validator: OLD }],
  ])('has the size of the file: %j', (headers, facts) => {
    expect(rest(206, headers, facts)).toEqual({ result: 10 });
  });

  test('can start at a number of several digits', () => {
    const headers = { 'content-range': 'bytes 15-99/100', etag: '"a"' };
    expect(readRest({ statusCode: 206, headers }, 15, { totalBytes: 100, validator: ETAG })).toBe(100);
  });

  test.each<[object, Partial<RemoteFacts>]>([
    [{ ...REST, etag: '"b"' }, {}],
    [REST, {}],
    [{ ...REST, etag: '"a"' }, { totalBytes: 11 }],
    [{ ...REST, etag: '"a"' }, { validator: null }],
    [{ ...REST, 'last-modified': DATE }, { validator: OLD }],
  ])('is of another version: %j', (headers, facts) => {
    expect(rest(206, headers, facts)).toEqual({ code: 'import_changed', ...STARTS_OVER });
  });

  test.each([
    {},
    { 'content-range': 'bytes 4-9/10' },
    { 'content-range': 'bytes 5-8/10' },
    { 'content-range': 'bytes 5-9/*' },
    { 'content-range': 'x bytes 5-9/10' },
    { 'content-range': 'bytes 5-9/10 x' },
    { ...REST, 'content-length': '4' },
  ])('does not have the rest: %j', (headers) => {
    expect(rest(206, { etag: '"a"', ...headers })).toEqual({ code: 'import_server_failed', ...RETRYABLE });
  });

  test('without a version, like the first response, is of a server that supports no ranges', () => {
    expect(rest(200, {}, { validator: null })).toEqual({ code: 'import_incomplete', ...STARTS_OVER });
  });

  test.each<[number, object, string, object]>([
    [206, { ...REST, etag: '"a"', 'content-encoding': 'br' }, 'import_encoded', FINAL],
    [416, {}, 'import_changed', STARTS_OVER],
    // The server supports no ranges.
    [200, { etag: '"a"' }, 'import_incomplete', STARTS_OVER],
    [200, { etag: '"b"' }, 'import_changed', STARTS_OVER],
    [404, {}, 'import_not_found', FINAL],
  ])('with the status %d: %j', (status, headers, code, next) => {
    expect(rest(status, headers)).toEqual({ code, ...next });
  });
});

describe('an error of a connection', () => {
  const withCode = (code: string) => Object.assign(new Error('x'), { code });

  test.each<[unknown, string, boolean]>([
    [new AddressRefusedError('10.0.0.1'), 'import_address_refused', false],
    [new HostNotFoundError('host.example'), 'import_host_not_found', true],
    [withCode('CERT_HAS_EXPIRED'), 'import_tls_failed', false],
    [withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), 'import_tls_failed', false],
    [withCode('INVALID_CA'), 'import_tls_failed', false],
    [withCode('INVALID_PURPOSE'), 'import_tls_failed', false],
    [withCode('PATH_LENGTH_EXCEEDED'), 'import_tls_failed', false],
    [withCode('ERR_SSL_WRONG_VERSION_NUMBER'), 'import_tls_failed', false],
    [withCode('EPROTO'), 'import_tls_failed', false],
    [withCode('HPE_INVALID_CONSTANT'), 'import_server_failed', true],
    [withCode('ECONNREFUSED'), 'import_unreachable', true],
    [new Error('without a code'), 'import_unreachable', true],
    ['no error', 'import_unreachable', true],
  ])('%s', (error, code, retryable) => {
    expect(toImportFailure(error)).toMatchObject({ code, retryable, startsOver: false, cause: error });
  });

  test('that is a failure already stays the same', () => {
    const failure = new ImportFailure('import_denied');
    expect(toImportFailure(failure)).toBe(failure);
  });
});

describe('the pause after a failure', () => {
  const failure = (retryAfterSeconds = 0) =>
    new ImportFailure('import_server_failed', { retryable: true, retryAfterSeconds });

  test('follows the schedule, which ends with the fifth try', () => {
    const pauses = [1, 2, 3, 4, 5].map((tries) => pauseAfter(failure(), tries, [2, 10, 30, 60]));
    expect(pauses).toEqual([2, 10, 30, 60, null]);
  });

  test('is lengthened by Retry-After, up to ten minutes', () => {
    expect([1, 7, 9000].map((seconds) => pauseAfter(failure(seconds), 1, [2]))).toEqual([2, 7, 600]);
  });

  test('is null for a final failure', () => {
    expect(pauseAfter(new ImportFailure('import_denied'), 1, [2])).toBeNull();
  });
});

test('no header takes 100 ms, whatever it repeats', async () => {
  const facts: RemoteFacts = { totalBytes: 100, validator: { name: 'etag', value: '"a"' } };
  const names = [
    'content-encoding',
    'content-length',
    'content-range',
    'date',
    'etag',
    'last-modified',
    'retry-after',
  ];
  const reads = names.flatMap((name) =>
    HOSTILE_VALUES.map((value) => {
      const headers = { date: DATE, 'last-modified': DATE, 'content-range': 'bytes 5-99/100', [name]: value };
      const read = () => {
        failureOf(() => readWhole({ statusCode: 200, headers }, 100));
        failureOf(() => readWhole({ statusCode: 503, headers }, 100));
        failureOf(() => readRest({ statusCode: 206, headers }, 5, facts));
      };
      return [`${name}: ${value.slice(0, 9)}`, read] as const;
    }),
  );
  expect(await slowOnes(reads)).toEqual([]);
});
