import { describe, expect, test } from '@jest/globals';
import type { Request } from 'express';
import { error as validatorErrors } from 'express-openapi-validator';
import { invalidInput, translateHttpError } from './problems.ts';

/** A request of `PUT /v1/films`. */
function requestOf(changes: object = {}): Request {
  return { method: 'PUT', baseUrl: '/v1', path: '/films', ...changes } as Request;
}

/** An error of express.json(). */
function parserError(type: string, fields: object = {}): Error {
  return Object.assign(new Error('The parser failed'), { type, ...fields });
}

describe('errors of the validator', () => {
  test('for an unknown path name the operation', () => {
    expect(translateHttpError(new validatorErrors.NotFound({ path: '/films' }), requestOf())).toMatchObject({
      code: 'route_not_found',
      message: 'There is no operation PUT /v1/films. Check the method and the path.',
    });
  });

  test.each([
    ['GET, POST', 'GET, POST, HEAD'],
    ['PATCH, DELETE', 'PATCH, DELETE'],
    ['', ''],
  ])('for another method list the allowed ones: with %j documented, %j', (documented, allowed) => {
    const headers = { Allow: documented };
    const error = new validatorErrors.MethodNotAllowed({ path: '/films', headers });
    expect(translateHttpError(error, requestOf())).toMatchObject({
      code: 'method_not_allowed',
      message: `This path does not support PUT. Supported: ${allowed}.`,
      options: { headers: { Allow: allowed } },
    });
  });

  test('for another method may lack a list', () => {
    const error = new validatorErrors.MethodNotAllowed({ path: '/films' });
    expect(translateHttpError(error, requestOf())).toMatchObject({ options: { headers: { Allow: '' } } });
  });

  test.each([
    [{ 'text/vtt': {}, 'application/x-subrip': {} }, 'text/vtt or application/x-subrip'],
    [{ 'image/png': {} }, 'image/png'],
  ])('for another type of the body name the accepted ones: %j', (content, types) => {
    const req = requestOf({ openapi: { schema: { requestBody: { content } } } });
    const error = new validatorErrors.UnsupportedMediaType({ path: '/films' });
    expect(translateHttpError(error, req)).toMatchObject({
      code: 'unsupported_media_type',
      message: `Send the body as ${types}.`,
    });
  });

  test.each([{}, { openapi: {} }, { openapi: { schema: {} } }])(
    'name JSON as the accepted type if the request has the description %j',
    (changes) => {
      const error = new validatorErrors.UnsupportedMediaType({ path: '/films' });
      expect(translateHttpError(error, requestOf(changes))).toMatchObject({
        message: 'Send the body as application/json.',
      });
    },
  );
});

describe('errors of the database', () => {
  test.each([
    ['08006', 'The service cannot reach its database. Retry in a few seconds.'],
    ['57014', 'The database takes too long. Retry in a few seconds.'],
  ])('with the state %s are 503', (code, message) => {
    const error = Object.assign(new Error('The query failed'), { code });
    expect(translateHttpError(error, requestOf())).toMatchObject({
      code: 'unavailable',
      message,
      cause: error,
    });
  });
});

describe('errors of the body', () => {
  test.each([
    ['entity.parse.failed', 'invalid_json', 'The body is not valid JSON. Send a JSON object.'],
    [
      'entity.verify.failed',
      'invalid_json',
      'The body contains bytes that are not UTF-8. Encode it in UTF-8.',
    ],
    [
      'encoding.unsupported',
      'unsupported_media_type',
      'The Content-Encoding is not supported. Send the body uncompressed, or compressed with gzip.',
    ],
    ['charset.unsupported', 'unsupported_media_type', 'Send the body as application/json in UTF-8.'],
    ['request.aborted', 'incomplete_body', 'The body ended before it was complete. Send the request again.'],
    [
      'request.size.invalid',
      'incomplete_body',
      'The body ended before it was complete. Send the request again.',
    ],
  ])('of the type %s are %s', (type, code, message) => {
    expect(translateHttpError(parserError(type), requestOf())).toMatchObject({ code, message });
  });

  test.each([
    [256 * 1024, 256],
    [16 * 1024 ** 2, 16_384],
  ])('have the limit of the parser, and close the connection: %d bytes', (limit, kilobytes) => {
    expect(translateHttpError(parserError('entity.too.large', { limit }), requestOf())).toMatchObject({
      code: 'body_too_large',
      message: `The JSON body is too large. Send at most ${kilobytes} kB.`,
      options: { closeConnection: true },
    });
  });

  test.each(['Z_DATA_ERROR', 'ERR__ERROR_FORMAT_PADDING_1', 'ZSTD_error_prefix_unknown'])(
    'of the decompression are invalid_json: %s',
    (code) => {
      const error = Object.assign(new Error('incorrect header check'), { code });
      expect(translateHttpError(error, requestOf())).toMatchObject({ code: 'invalid_json' });
    },
  );
});

test.each([
  ['of an unknown type', parserError('stream.encoding.set')],
  ['without a type', new Error('Unforeseen')],
  ['with an unknown code', Object.assign(new Error('Unforeseen'), { code: 'ERR_Z_DATA_ERROR' })],
  ['that is not an error', { type: 'entity.parse.failed', code: 'Z_DATA_ERROR' }],
])('an error %s has no problem', (_, error) => {
  expect(translateHttpError(error, requestOf())).toBeUndefined();
});

describe('invalid input', () => {
  const titleIssue = { path: '/body/title', message: 'must be string' };
  const idIssue = { path: '/params/id', message: 'must match the pattern' };
  const unknownTitle = { field: 'body/titel', code: 'additionalProperties', message: 'is unknown' };
  const problemOf = (
    issues: { path: string; message: string }[],
    { message = '', unknown = [unknownTitle] },
  ) => invalidInput({ errors: issues, message }, requestOf(), { patterns: new Map(), unknown });

  test('names the invalid fields', () => {
    expect(problemOf([titleIssue, idIssue], { unknown: [] })).toMatchObject({
      code: 'validation_failed',
      options: { errors: [{ field: 'body/title' }, { field: 'params/id' }] },
    });
  });

  test('names unknown fields before others', () => {
    expect(problemOf([titleIssue], {})).toMatchObject({
      code: 'unknown_field',
      options: { errors: [unknownTitle] },
    });
  });

  test('is an unknown path if nothing else is invalid', () => {
    expect(problemOf([idIssue, { ...idIssue, path: '/params/name' }], {})).toMatchObject({
      code: 'route_not_found',
      message: 'There is no operation PUT /v1/films. Check the method and the path.',
    });
  });

  test('is an unknown path if the path has a malformed escape', () => {
    const issue = { path: '/films', message: 'malformed' };
    expect(problemOf([issue], { message: 'malformed uri: /%FF' })).toMatchObject({ code: 'route_not_found' });
    expect(problemOf([issue], { message: 'no malformed uri', unknown: [] })).toMatchObject({
      code: 'validation_failed',
    });
  });
});
