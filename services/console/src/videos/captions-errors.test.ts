import { ApiError } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { captionsErrors } from './captions-errors.ts';

function refused(
  code: string,
  detail: string,
  errors: { field: string; code: string; message: string }[] = [],
) {
  const problem = { type: '', title: '', status: 400, detail, instance: '', code, requestId: 'r', errors };
  return new ApiError(detail, { code, status: 400, requestId: 'r', problem });
}

test('the error of the file has the line number; another error is at its form field, and is left out if it has none', () => {
  expect(captionsErrors(refused('invalid_captions', 'Line 3: a cue was expected.'))).toEqual({
    file: 'Line 3: a cue was expected.',
  });
  const language = { field: 'path/language', code: 'format', message: 'must be a tag' };
  const other = { field: 'query/default', code: 'type', message: 'must be a boolean' };
  expect(captionsErrors(refused('validation_failed', '', [language, other]))).toEqual({
    language: 'This must be a tag.',
  });
  expect(captionsErrors(new Error('x'))).toEqual({});
});
