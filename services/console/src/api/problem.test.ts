import { ApiError, ConnectionError } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { fieldMessage, isSessionError, wordsFor } from './problem.ts';

const problem = {
  type: 'https://video.example.com/docs/errors/validation_failed',
  title: 'Validation Failed',
  status: 400,
  detail: 'The body is not valid.',
  instance: '/v1/api-keys',
  code: 'validation_failed',
  requestId: 'req_1',
  errors: [{ field: 'body/name', code: 'minLength', message: 'must not be empty' }],
};

function apiError(status: number): ApiError {
  return new ApiError('', {
    code: problem.code,
    status,
    requestId: 'req_1',
    problem: { ...problem, status },
  });
}

test('a problem has its words, the errors in the input, its request id and its page', () => {
  expect(wordsFor(apiError(400))).toEqual({
    title: 'Validation Failed',
    detail: 'The body is not valid. — name must not be empty',
    requestId: 'req_1',
    page: 'https://video.example.com/docs/errors/validation_failed',
  });
});

test('a type that is no address is not a page', () => {
  const type = 'javascript:alert(1)';
  const error = new ApiError('', { code: 'x', status: 400, requestId: null, problem: { ...problem, type } });
  expect(wordsFor(error).page).toBeNull();
});

test('a lost connection has words of its own', () => {
  expect(wordsFor(new ConnectionError('http://localhost/v1'))).toMatchObject({
    title: 'No connection',
    requestId: null,
  });
});

test('an error of this page shows no internals', () => {
  expect(wordsFor(new TypeError('x is undefined')).detail).not.toContain('undefined');
});

test('only 401 is about the session', () => {
  expect([401, 403].map((status) => isSessionError(apiError(status)))).toEqual([true, false]);
  expect(isSessionError(new Error('401'))).toBe(false);
});

test('an error in the input is found by its field', () => {
  expect(fieldMessage(apiError(400), 'name')).toBe('Must not be empty');
  expect(fieldMessage(apiError(400), 'url')).toBeNull();
  expect(fieldMessage(new Error('x'), 'name')).toBeNull();
});
