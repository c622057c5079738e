import { expect, test } from '@jest/globals';
import { ToolError } from '../ffmpeg/run-tool.ts';
import { refusal, storageFailure, TranscodeFailure } from '../transcode-failure.ts';
import { EngineStoppedError, reportFailure } from './failure-report.ts';

test('of a file that is at fault, the log has what ffmpeg said and no trace', () => {
  const cause = new ToolError('exit', 'Ended with code 1', 'Invalid data found when processing input\n');
  const { outcome, level, facts } = reportFailure(refusal('not_a_video', 'The file is not a video.', cause));
  expect(outcome).toEqual({ code: 'not_a_video', message: 'The file is not a video.', retryable: false });
  expect(level).toBe('info');
  expect(facts).toEqual({ reason: 'Ended with code 1: Invalid data found when processing input' });
});

test('of one that was refused without ffmpeg, it has the reason', () => {
  const { level, facts } = reportFailure(refusal('no_video_track', 'The file has no video track.'));
  expect([level, facts]).toEqual(['info', { reason: 'The file has no video track.' }]);
});

test('an engine that stops hands its attempt back', () => {
  const { outcome, level } = reportFailure(new EngineStoppedError('The engine is stopping'));
  expect(outcome).toMatchObject({ code: 'engine_stopped', retryable: true });
  expect(level).toBe('info');
});

test.each([
  ['storage that fails', storageFailure(new Error('ECONNRESET')), 'storage_failed', 'warn'],
  [
    'an engine in trouble',
    new TranscodeFailure('internal_error', 'No memory.', { retryable: true }),
    'internal_error',
    'error',
  ],
  ['a fault of ours', new TypeError('x is undefined'), 'internal_error', 'error'],
])('of %s, the log has everything and the owner little', (_, error, code, level) => {
  const report = reportFailure(error);
  expect(report).toMatchObject({ outcome: { code, retryable: true }, level, facts: { error } });
  expect(report.outcome.message).not.toMatch(/ECONNRESET|undefined/);
});
