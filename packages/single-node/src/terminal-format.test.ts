import { describe, expect, test } from '@jest/globals';
import { terminalFormat } from './terminal-format.ts';

/** The lines for these events, without the clock. */
function shown(...events: Record<string, unknown>[]): string[] {
  const format = terminalFormat('http://localhost:8080/v1');
  return events
    .map((event) => format.transform({ level: 'info', message: '', ...event }))
    .filter((event) => typeof event === 'object')
    .map((event) => String(event[Symbol.for('message')]).replace(/^\d\d:\d\d:\d\d {2}/, ''));
}

const video = { videoId: 'vid_1', workspaceId: 'ws_1', title: 'Holiday' };

describe('the terminal format', () => {
  test('shows the life of a video', () => {
    expect(
      shown(
        { message: 'video.uploaded', ...video, bytes: 32_100_000 },
        { message: 'attempt.ended', ...video },
        { message: 'video.preview_offered', ...video, attempt: 1, variants: ['360p', '720p'] },
        { message: 'video.ready', ...video, seconds: 12.34 },
        { message: 'video.deleted', ...video },
      ),
    ).toEqual([
      '↑ Holiday: received, 32 MB',
      '▸ Holiday: preview available: 360p, 720p',
      '✓ Holiday: ready in 12.3 s\n          http://localhost:8080/v1/hls/ws_1/vid_1/master.m3u8',
      '− Holiday: deleted',
    ]);
  });

  test('escapes titles that move the cursor or forge a line', () => {
    const title = 'a\r\n12:00:00  ✓ forged: ready\u001b[1A\u202e';
    const lines = shown(
      { message: 'video.uploaded', ...video, title, bytes: 1 },
      { level: 'error', message: 'job.failed', title, error: new Error(`no\u001b[2J\nforged`) },
    ).join('\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them.
    expect(lines).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(lines).toContain(String.raw`a\u000d\u000a12:00:00  ✓ forged: ready\u001b[1A\u202e: received`);
  });

  test('shows progress in steps, for each video separately', () => {
    const progress = (title: string, percent: number) => ({
      message: 'video.progress',
      videoId: `vid_${title}`,
      title,
      percent,
    });
    expect(
      shown(
        progress('Holiday', 4),
        progress('Holiday', 13),
        progress('Holiday', 19),
        progress('Notes', 55),
        progress('Holiday', 20),
      ),
    ).toEqual(['… Holiday: 13 %', '… Notes: 55 %', '… Holiday: 20 %']);
  });

  test.each(['video.failed', 'video.ready'])('begins the progress of a video again after %s', (end) => {
    const progress = (percent: number) => ({ message: 'video.progress', ...video, percent });
    const lines = shown(progress(55), { message: end, ...video }, progress(13));
    expect([lines[0], ...lines.slice(2)]).toEqual(['… Holiday: 55 %', '… Holiday: 13 %']);
  });

  test('shows why a video failed', () => {
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

  test('shows failed deliveries and the time of the next attempt', () => {
    const failed = (facts: Record<string, unknown>) => ({
      level: 'warn',
      message: 'webhook.delivery_failed',
      service: 'control-plane',
      webhookId: 'whk_1',
      host: 'hooks.example.com',
      eventType: 'video.ready',
      attempt: 1,
      durationMs: 12,
      ...facts,
    });
    expect(
      shown(
        failed({ responseStatus: 500, failure: 'unexpected_status', retryInSeconds: 5 }),
        failed({ responseStatus: null, failure: 'connection_refused', retryInSeconds: 1790 }),
        failed({ responseStatus: null, failure: 'timeout', retryInSeconds: 36_100 }),
        failed({ responseStatus: 410, failure: 'gone', retryInSeconds: null }),
        { level: 'warn', message: 'webhook.disabled', webhookId: 'whk_1', reason: 'gone' },
      ),
    ).toEqual([
      '! Webhook video.ready to hooks.example.com failed: status 500; next attempt in 5 s',
      '! Webhook video.ready to hooks.example.com failed: connection refused; next attempt in 30 min',
      '! Webhook video.ready to hooks.example.com failed: timeout; next attempt in 10 h',
      '! Webhook video.ready to hooks.example.com failed: status 410; no further attempt',
      '! Webhook endpoint whk_1 is disabled: it responded with 410 Gone',
    ]);
  });

  test('shows an outdated ffmpeg in a sentence', () => {
    const outdated = {
      level: 'warn',
      message: 'ffmpeg.outdated',
      version: '5.1.9',
      advice: 'Install 8.1.3.',
    };
    expect(shown(outdated)).toEqual(['! ffmpeg 5.1.9 is out of date. Install 8.1.3.']);
  });

  test('shows warnings in one line and errors with their stack', () => {
    const error = { message: 'refused', stack: 'Error: refused\n    at somewhere' };
    expect(
      shown(
        {
          level: 'warn',
          message: 'upload.progress_not_published',
          service: 'engine',
          videoId: 'vid_1',
          error,
        },
        { level: 'error', message: 'request.failed', path: '/v1/videos', error },
      ),
    ).toEqual([
      '! upload.progress_not_published  refused  videoId=vid_1',
      '! request.failed  Error: refused\n    at somewhere  path=/v1/videos',
    ]);
  });
});
