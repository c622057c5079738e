import { requireLinearTime } from '@framelane/test-kit/growth';
import { test } from '@jest/globals';
import { CaptionsError, MAX_CAPTIONS_BYTES } from './captions.ts';
import { type CaptionsFormat, readCaptions } from './read-captions.ts';

function readOrRefuse(text: string, format: CaptionsFormat): void {
  try {
    readCaptions(Buffer.from(text), format);
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
  }
}

/** Each is repeated, and each is a step of some expression or loop. */
const TOKENS = [
  ...[
    ' ',
    '\n',
    '\r\r\n',
    '\u2028x',
    '\ufeff',
    '\0',
    '-->',
    'STYLE\n\n',
    '1\n',
    '1\n\n',
    '00:01.000 --> 00:02.000\n',
  ],
  ...['<', '>', '<a ', '<b>', '<b></i>', '<v ', '<v x>', '<v.a', '<1', '<b/', '{\\', '{\\}', '}'],
  ...['&', '&#x', '&#1', '&lt;', '&not', '&CounterClockwiseContourIntegral'],
];

/** Each is repeated after the times of a cue. */
const SETTINGS = [' ', '\u2028', '00:01.000', ' line:0', ':', '1'];

test.each(['webvtt', 'subrip'] as const)(
  'hostile repetitions of %s are read in linear time',
  async (format) => {
    const cue = (settings: string, text: string) =>
      `${format === 'webvtt' ? 'WEBVTT\n\n' : ''}00:01.000 --> 00:02.000${settings}\n${text}\n`;
    const inputs = [
      ...TOKENS.map((token) => (size: number) => cue('', token.repeat(size / token.length))),
      ...SETTINGS.map((token) => (size: number) => cue(` ${token.repeat(size / token.length)}x\u2028`, 'A')),
      // Many open tags, and ends of one that is not open.
      (size: number) => cue('', `${'<b>'.repeat(size / 6)}${'</i>'.repeat(size / 8)}x`),
    ];
    for (const inputOf of inputs) {
      await requireLinearTime(MAX_CAPTIONS_BYTES, inputOf, (text) => readOrRefuse(text, format));
    }
  },
);
