import { describe, expect, test } from '@jest/globals';
import { terminalFormat } from './terminal-format.ts';

/** The lines a terminal shows for these events, without the clock. */
function shown(...events: Record<string, unknown>[]): string[] {
  const format = terminalFormat('http://localhost:8080/v1');
  return events
    .map((event) => format.transform({ level: 'info', message: '', ...event }))
    .filter((event) => typeof event === 'object')
    .map((event) => String(event[Symbol.for('message')]).replace(/^\d\d:\d\d:\d\d {2}/, ''));
}

const video = { videoId: 'vid_1', workspaceId: 'ws_1' };

describe('the log of a terminal', () => {
  test('tells the way of a video', () => {
    expect(
      shown(
        { message: 'video.uploaded', ...video, title: 'Holiday', bytes: 32_100_000 },
        { message: 'attempt.ended', ...video },
        { message: 'video.ready', ...video, title: 'Holiday', seconds: 12.34 },
        { message: 'video.deleted', ...video },
      ),
    ).toEqual([
      '↑ Holiday: received, 32 MB',
      '✓ Holiday: ready in 12.3 s\n          http://localhost:8080/v1/hls/ws_1/vid_1/master.m3u8',
      '− vid_1: deleted',
    ]);
  });

  test('tells progress in steps, each video for itself', () => {
    const progress = (videoId: string, percent: number) => ({ message: 'video.progress', videoId, percent });
    expect(
      shown(
        { message: 'video.uploaded', ...video, title: 'Holiday', bytes: 1 },
        progress('vid_1', 4),
        progress('vid_1', 13),
        progress('vid_1', 19),
        progress('vid_2', 55),
        progress('vid_1', 20),
      ),
    ).toEqual(['↑ Holiday: received, 0.0 MB', '… Holiday: 13 %', '… vid_2: 55 %', '… Holiday: 20 %']);
  });

  test('tells why a video failed', () => {
    const failed = {
      level: 'warn',
      message: 'video.failed',
      ...video,
      title: 'Notes',
      code: 'not_a_video',
      reason: 'The file is not a video.',
    };
    expect(shown(failed)).toEqual(['✗ Notes: failed, not_a_video. The file is not a video.']);
  });

  test('tells warnings in a line and faults with their trace', () => {
    const error = { message: 'refused', stack: 'Error: refused\n    at somewhere' };
    expect(
      shown(
        { level: 'warn', message: 'upload.progress_unsent', service: 'engine', videoId: 'vid_1', error },
        { level: 'error', message: 'request.failed', path: '/v1/videos', error },
      ),
    ).toEqual([
      '! upload.progress_unsent  refused  videoId=vid_1',
      '! request.failed  Error: refused\n    at somewhere  path=/v1/videos',
    ]);
  });
});
