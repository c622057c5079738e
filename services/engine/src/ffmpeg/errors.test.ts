import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { ToolError } from '../sandbox/run-tool.ts';
import { audioFormatChange, explainToolError } from './errors.ts';
import { KEPT_LINES, MAX_LINE_LENGTH } from './run-ffmpeg.ts';

describe('a tool error', () => {
  test.each([
    ['probe', 'file:source/file: Invalid data found when processing input', 'not_a_video', false],
    ['probe', "[hls @ 0x55] Format not on whitelist 'mov,matroska'", 'not_a_video', false],
    ['encode', "[concat @ 0x55] Protocol 'https' not on whitelist 'file'!", 'not_a_video', false],
    ['probe', 'Could not open codec for input stream 1', 'malformed_media', false],
    ['encode', "[dca @ 0x55] Codec (dca) not on whitelist 'h264'\nError", 'transcode_failed', false],
    ['encode', 'Decoder (codec av1) not found for input stream #0:0', 'unsupported_codec', false],
    [
      'probe',
      '[mov @ 0x55] moov atom not found\nfile:source/file: Invalid data found',
      'malformed_media',
      false,
    ],
    [
      'probe',
      'Number of streams exceeds max_streams parameter (32)\nfile:source/file: Cannot allocate memory',
      'malformed_media',
      false,
    ],
    ['encode', '[IMGUTILS @ 0x7f] Picture size 9000x9000 is invalid', 'dimensions_exceeded', false],
    ['encode', '[IMGUTILS @ 0x7f] Picture size 0x0 is invalid', 'malformed_media', false],
    ['encode', '[IMGUTILS @ 0x7f] Picture size 64x0 is invalid', 'malformed_media', false],
    ['encode', 'Cannot determine format of input stream 0:0 after EOF', 'malformed_media', false],
    [
      'probe',
      '[extract_extradata @ 0x55] No start code is found.\nfile:source/file: Invalid data found',
      'malformed_media',
      false,
    ],
    ['encode', 'Conversion failed!', 'transcode_failed', false],
    ['encode', 'av_interleaved_write_frame(): No space left on device', 'internal_error', true],
    ['encode', '[h264 @ 0x55] Cannot allocate memory', 'internal_error', true],
    ['encode', 'no frame!\nfile:source/file: Cannot allocate memory', 'malformed_media', false],
    [
      'encode',
      '[in#0/mov,mp4 @ 0x55] Error during demuxing: Cannot allocate memory',
      'malformed_media',
      false,
    ],
    [
      'encode',
      '[h264 @ 0x55] Cannot allocate memory\nfile:source/file: Cannot allocate memory',
      'internal_error',
      true,
    ],
    [
      'encode',
      'x264 [error]: malloc of size 9 failed\nfile:source/file: Cannot allocate memory',
      'internal_error',
      true,
    ],
    ['probe', '[mov @ 0x55] Cannot allocate memory', 'malformed_media', false],
    ['probe', 'bwrap: Creating new namespace failed: Cannot allocate memory', 'internal_error', true],
    ['probe', 'Resource temporarily unavailable', 'internal_error', true],
    ['encode', '[mov @ 0x55] pthread_create: Resource temporarily unavailable', 'internal_error', true],
    [
      'encode',
      'Error while decoding stream #0:0: Resource temporarily unavailable',
      'transcode_failed',
      false,
    ],
    [
      'encode',
      '[dec:libdav1d @ 0x6] Error submitting packet to decoder: Resource temporarily unavailable',
      'transcode_failed',
      false,
    ],
    [
      'encode',
      'Error while decoding stream #0:0: Resource temporarily unavailable\nResource temporarily unavailable',
      'internal_error',
      true,
    ],
    ['probe', 'file:source/nice: Invalid data found', 'not_a_video', false],
    ['probe', 'ffprobe: error while loading shared libraries: libx264.so', 'internal_error', true],
    ['probe', 'bwrap: setting up uid map: Permission denied', 'internal_error', true],
  ] as const)('in %s with stderr "%s" becomes %s, retryable: %s', (stage, stderr, code, retryable) => {
    const error = new ToolError('exit', 'Ended with code 1', stderr);
    expect(explainToolError(error, stage)).toMatchObject({ code, retryable, cause: error });
  });

  test.each([
    ['Error while decoding stream #0:0: Invalid data found', 'malformed_media', false],
    ['Error while decoding stream #0:0: Resource temporarily unavailable', 'malformed_media', false],
    ['Error while decoding stream #0:0: Cannot allocate memory', 'internal_error', true],
  ] as const)('of too many packets that cannot be decoded, "%s", becomes %s', (stderr, code, retryable) => {
    const error = new ToolError('exit', 'ffmpeg exited with code 69', stderr);
    expect(explainToolError(error, 'encode')).toMatchObject({ code, retryable });
  });

  test('about a refused decoder names the decoder and the track', () => {
    const stderr = [
      "[dca @ 0x55] Codec (dca) not on whitelist 'h264,aac'",
      "[cinepak @ 0x55] Codec (cinepak) not on whitelist 'h264,aac'",
      'Could not open codec for input stream 12',
    ].join('\n');
    expect(explainToolError(new ToolError('exit', '', stderr), 'probe')).toMatchObject({
      code: 'unsupported_codec',
      message: 'Track 13 uses the codec cinepak, which is not supported.',
      retryable: false,
    });
  });

  test.each([
    ['timeout', 'transcode_timeout'],
    ['stalled', 'transcode_timeout'],
    ['killed', 'transcode_failed'],
    ['sigkill', 'internal_error'],
  ] as const)('%s in encode becomes %s, retryable', (end, code) => {
    expect(explainToolError(new ToolError(end, '', ''), 'encode')).toMatchObject({ code, retryable: true });
  });

  test.each(['timeout', 'stalled'] as const)('%s in probe is not retryable', (end) => {
    expect(explainToolError(new ToolError(end, '', ''), 'probe')).toMatchObject({
      code: 'transcode_timeout',
      retryable: false,
    });
  });

  test.each([
    ['memory', 'transcode_failed'],
    ['output_limit', 'malformed_media'],
  ] as const)('%s becomes %s, not retryable, whatever stderr contains', (end, code) => {
    const error = new ToolError(end, '', 'Cannot allocate memory');
    expect(explainToolError(error, 'encode')).toMatchObject({ code, retryable: false });
  });

  test('is recognized if the audio changes its format', () => {
    const stderr = '[af] Changing audio frame properties on the fly is not supported by all filters';
    const error = new ToolError('exit', '', stderr);
    expect(explainToolError(error, 'encode')).toMatchObject({ code: 'transcode_failed', retryable: false });
    expect(audioFormatChange(error)).toEqual({ index: Number.NaN });
    expect(audioFormatChange(new ToolError('exit', '', 'Conversion failed!'))).toBeNull();
    expect(audioFormatChange(new Error(stderr))).toBeNull();
    for (const input of ['graph_1_in_0_12', 'graph_10_in_0:12']) {
      const named = new ToolError('exit', '', `[${input} @ 0x5581] ${stderr.slice(5)}`);
      expect(audioFormatChange(named)).toEqual({ index: 12 });
    }
  });

  test('does not show the output of the tool to the client', () => {
    const { message } = explainToolError(
      new ToolError('exit', '', 'file:/srv/secret: Invalid data found'),
      'probe',
    );
    expect(message).not.toMatch(/secret|Invalid/);
  });
});

/** Each is repeated: beginnings and ends of messages that have a meaning. */
const TOKENS = [' ', '\n', 'Cannot allocate memory\n', 'Codec (', '[in#0\n', '[graph_1_in_0'];

test('messages are explained in linear time, whatever they repeat', async () => {
  for (const token of TOKENS) {
    await requireLinearTime(
      KEPT_LINES * MAX_LINE_LENGTH,
      (size) => new ToolError('exit', 'ffmpeg failed', token.repeat(size / token.length)),
      (error) => [
        audioFormatChange(error),
        explainToolError(error, 'probe'),
        explainToolError(error, 'encode'),
      ],
    );
  }
});
