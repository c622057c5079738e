import { expect, test } from '@jest/globals';
import { ToolError } from '../sandbox/run-tool.ts';
import { ToolOutputError } from '../sandbox/tool-output.ts';
import { refusal, storageFailure, TranscodeFailure } from '../transcode-failure.ts';
import { EngineStoppedError, reportFailure } from './failure-report.ts';

test('a refused file is logged with the message of ffmpeg and without a stack trace', () => {
  const cause = new ToolError('exit', 'Ended with code 1', 'Invalid data found when processing input\n');
  const { outcome, level, facts } = reportFailure(refusal('not_a_video', 'The file is not a video.', cause));
  expect(outcome).toEqual({ code: 'not_a_video', message: 'The file is not a video.', retryable: false });
  expect(level).toBe('info');
  expect(facts).toEqual({ reason: 'Ended with code 1: Invalid data found when processing input' });
});

test('a file refused without ffmpeg is logged with the reason', () => {
  const { level, facts } = reportFailure(refusal('no_video_track', 'The file has no video track.'));
  expect([level, facts]).toEqual(['info', { reason: 'The file has no video track.' }]);
});

test('a try of a stopping engine is retryable', () => {
  const { outcome, level, facts } = reportFailure(new EngineStoppedError('The engine is stopping'));
  expect(outcome).toMatchObject({ code: 'engine_stopped', retryable: true });
  expect([level, facts]).toEqual(['info', { reason: 'The engine is stopping' }]);
});

test('for output that ffmpeg should never write, operators get the error', () => {
  const error = refusal('transcode_failed', 'No.', new ToolOutputError('The output is a symbolic link'));
  expect(reportFailure(error)).toEqual({
    outcome: { code: 'transcode_failed', message: 'No.', retryable: false },
    level: 'error',
    facts: { error },
  });
});

test.each([
  ['a failing object store', storageFailure(new Error('ECONNRESET')), 'storage_failed', 'warn'],
  [
    'an engine without memory',
    new TranscodeFailure('internal_error', 'No memory.', { retryable: true }),
    'internal_error',
    'error',
  ],
  ['a bug', new TypeError('x is undefined'), 'internal_error', 'error'],
])('for %s, the log has the error and the owner a message', (_, error, code, level) => {
  const report = reportFailure(error);
  expect(report).toMatchObject({ outcome: { code, retryable: true }, level, facts: { error } });
  expect(report.outcome.message).not.toMatch(/ECONNRESET|undefined/);
});

test('for a bug, the message says what to do', () => {
  const { message } = reportFailure(new TypeError('x is undefined')).outcome;
  expect(message).toBe('An internal error occurred in the engine. Retry the video later.');
});
