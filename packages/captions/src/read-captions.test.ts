import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CaptionsError, type Cue, MAX_CUES } from './captions.ts';
import { type CaptionsFormat, readCaptions } from './read-captions.ts';
import { cueBlock, webVttFile } from './write-webvtt.ts';

const read = (text: string, format: CaptionsFormat = 'webvtt') => readCaptions(Buffer.from(text), format);
const subrip = (text: string) => read(text, 'subrip');

/** The line and the message of the error. */
function errorOf(bytes: Uint8Array | string, format: CaptionsFormat) {
  try {
    readCaptions(Buffer.from(bytes), format);
    return null;
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return [error.line, error.message];
  }
}

test('WebVTT with identifiers, settings, comments, styles and regions', () => {
  const cues = read(`WEBVTT - a title
Kind: captions

STYLE
::cue { background: url(https://evil.example/) }

REGION
id:left

NOTE
A comment

intro
00:01.000 --> 00:02.500 line:0 position:10% region:left size:120% constructor:1 align:start
Hello

100:00:00.000 --> 100:00:01.000
Late
and long`);
  expect(cues).toEqual([
    { start: 1000, end: 2500, settings: 'line:0 position:10% align:start', text: 'Hello' },
    { start: 360_000_000, end: 360_001_000, settings: '', text: 'Late\nand long' },
  ]);
});

test('SubRip with CRLF line breaks, a byte order mark, positions, and times of any number of digits', () => {
  const text =
    '\ufeff\r\n1\r\n00:00:01,000 --> 00:00:02,5\r\n{\\an8}<font color="red">Hello</font>\r\n \r\n\r\n2\r\n1:00:03.000 --> 1:00:04,000 X1:0\r\n- Who?\r\n\r\n- Me.\r\n\r\n';
  expect(subrip(text)).toEqual([
    { start: 1000, end: 2500, settings: 'line:0', text: 'Hello' },
    { start: 3_603_000, end: 3_604_000, settings: '', text: '- Who?\n- Me.' },
  ]);
});

test('CR line breaks, overlaps in any order, cues without duration or text', () => {
  const text =
    'WEBVTT\r\r00:05.000 --> 00:09.000\rB\r\r00:01.000 --> 00:07.000\rA\r\r00:02.000 --> 00:02.000\rgone\r\r00:03.000 --> 00:04.000\r<b> </b>\r';
  expect(read(text).map((cue) => cue.text)).toEqual(['A', 'B']);
});

test.each<[string, CaptionsFormat, string | Uint8Array, number | null, RegExp]>([
  ['no header', 'webvtt', '1\n00:01.000 --> 00:02.000\nA', 1, /begins with WEBVTT/],
  [
    'no blank line after the header',
    'webvtt',
    'WEBVTT\nKind: captions\nid\n00:01.000 --> 00:02.000\nA\n\n00:02.000 --> 00:03.000\nB',
    4,
    /blank line is missing/,
  ],
  ['WebVTT as SubRip', 'subrip', 'WEBVTT\n\n00:01.000 --> 00:02.000\nA', 1, /text\/vtt/],
  ['an unreadable time', 'webvtt', 'WEBVTT\n\nid\n00:01 --> 00:02\nA', 4, /^Line 4: the times/],
  ['61 seconds', 'subrip', '1\n00:00:61,000 --> 00:02:00,000\nA', 2, /times/],
  ['an end before the start', 'subrip', '1\n00:00:02,000 --> 00:00:01,000\nA', 2, /ends before/],
  ['a blank line inside a cue', 'webvtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\nA\n\nB\n', 6, /blank line/],
  [
    'no blank line between cues',
    'subrip',
    '1\n00:00:01,000 --> 00:00:02,000\nA\n2\n00:00:03,000 --> 00:00:04,000\nB',
    5,
    /blank line is missing/,
  ],
  [
    'no blank line after a cue that contains one',
    'subrip',
    '1\n00:00:01,000 --> 00:00:02,000\nA\n\nB\n2\n00:00:03,000 --> 00:00:04,000\nC',
    7,
    /blank line is missing/,
  ],
  [
    'no blank line after a comment',
    'webvtt',
    'WEBVTT\n\nNOTE by hand\n00:01.000 --> 00:02.000\nA\n\n00:02.000 --> 00:03.000\nB',
    4,
    /blank line is missing/,
  ],
  ['Latin-1', 'subrip', Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n\xe9\n', 'latin1'), 3, /UTF-8/],
  [
    'Latin-1 with CR line breaks',
    'subrip',
    Buffer.from('1\r00:00:01,000 --> 00:00:02,000\r\xe9\r', 'latin1'),
    3,
    /UTF-8/,
  ],
  [
    'Latin-1 with CRLF line breaks',
    'subrip',
    Buffer.from('1\r\n00:00:01,000 --> 00:00:02,000\r\n\xe9\r\n', 'latin1'),
    3,
    /UTF-8/,
  ],
  ['UTF-16', 'webvtt', Buffer.from('\ufeffWEBVTT', 'utf16le'), null, /UTF-16/],
  ['no cue', 'webvtt', 'WEBVTT\n\nNOTE nothing', null, /no cue/],
  [
    'no cue with both text and a duration',
    'webvtt',
    'WEBVTT\n\n00:01.000 --> 00:01.000\nA\n\n00:01.000 --> 00:02.000\n<b></b>',
    null,
    /no cue with text and a duration/,
  ],
  ['nothing', 'subrip', '', null, /it is empty/],
  ['another kind of text', 'subrip', '{"cues":[]}', 1, /00:01:02,500/],
])('%s is an error, with the line if there is one', (_, format, bytes, line, message) => {
  expect(errorOf(bytes, format)).toEqual([line, expect.stringMatching(message)]);
});

test('the number of cues is limited', () => {
  const cue = '00:01.000 --> 00:02.000\nA\n\n';
  expect(read(`WEBVTT\n\n${cue.repeat(MAX_CUES)}`)).toHaveLength(MAX_CUES);
  expect(errorOf(`WEBVTT\n\n${cue.repeat(MAX_CUES + 1)}`, 'webvtt')).toEqual([
    3 * (MAX_CUES + 1),
    expect.stringMatching(/more than 50000 cues/),
  ]);
});

/** Fragments that matter to the syntax. */
const fragment = fc.constantFrom(
  ...[
    'WEBVTT',
    'NOTE',
    '\n',
    '\n\n',
    '\r\n',
    '-->',
    ' --> ',
    '00:01.000',
    '00:00:02,000',
    'line:0',
    '{\\an8}',
    '\0',
  ],
  ...[
    '<',
    '>',
    '&',
    '</',
    '<b>',
    '</b>',
    '<v A&B>',
    '<script>',
    '<c.x>',
    '&lt;',
    '&amp;',
    '&#62;',
    '&#10',
    '&not',
    'text',
    '\u{1f600}',
  ],
);
const cueText = fc.array(fragment, { minLength: 1 }).map((parts) => parts.join(''));

test('any text is read, or refused with a CaptionsError', () => {
  fc.assert(
    fc.property(cueText, fc.constantFrom('webvtt', 'subrip'), (text, format) => {
      errorOf(text, format);
      errorOf(`WEBVTT\n\n00:01.000 --> 00:02.000\n${text}`, format);
    }),
  );
});

test('cues that were read do not change when they are written and read again', () => {
  const times = fc.tuple(fc.nat({ max: 400_000_000 }), fc.integer({ min: 1, max: 10_000 }));
  const raw = fc.record({ times, text: cueText });
  fc.assert(
    fc.property(fc.array(raw, { minLength: 1, maxLength: 5 }), (list) => {
      const file = (cues: Cue[]) => webVttFile(cues.map(cueBlock));
      const unsafe = list.map(({ times: [start, length], text }) => ({
        start,
        end: start + length,
        settings: '',
        text: text.replaceAll(/[\r\n]+/g, ' ').replaceAll('-->', '->'),
      }));
      let cues: Cue[];
      try {
        cues = read(file(unsafe));
      } catch (error) {
        expect(error).toBeInstanceOf(CaptionsError);
        return;
      }
      expect(read(file(cues))).toEqual(cues);
      for (const { text } of cues) {
        expect(text).not.toMatch(/-->|^$|\n\n/);
        expect(text.replaceAll(/<\/?(b|i|u|ruby|rt|v( [^<>]+)?)>|&(amp|lt|gt);/g, '')).not.toMatch(/[<>&]/);
      }
    }),
  );
});

/** What a file of SubRip says, without the times. */
const texts = (text: string) => subrip(text).map((cue) => cue.text);

const FIRST = '00:00:01,000 --> 00:00:02,000';
const SECOND = '00:00:03,000 --> 00:00:04,000';

test.each([
  ['a blank line below each number', `1\n\n${FIRST}\nA\n\n2\n\n${SECOND}\nB\n`],
  ['a blank line below each line', `1\n\n${FIRST}\n\nA\n\n2\n\n${SECOND}\n\nB\n`],
  ['a blank line below the number instead of above it', `1\n${FIRST}\nA\n2\n\n${SECOND}\nB\n`],
  ['the number of a cue that is missing', `1\n${FIRST}\nA\n\n2\n${SECOND}\nB\n\n3\n`],
  ['CR CR LF line breaks', `1\n${FIRST}\nA\n\n2\n${SECOND}\nB\n`.replaceAll('\n', '\r\r\n')],
  ['two byte order marks', `\ufeff\ufeff1\n${FIRST}\nA\n\n2\n${SECOND}\nB\n`],
])('SubRip with %s', (_, text) => {
  expect(texts(text)).toEqual(['A', 'B']);
});

test('a number that is not that of the next cue is text', () => {
  expect(texts(`1\n${FIRST}\nHow many?\n\n42\n\n2\n${SECOND}\nB\n\n7`)).toEqual(['How many?\n42', 'B\n7']);
  expect(texts(`1\n${FIRST}\nA\n2`)).toEqual(['A\n2']);
  expect(texts(`${FIRST}\nA\n\n1`)).toEqual(['A\n1']);
});

test('WebVTT with CR CR LF line breaks and two byte order marks', () => {
  const text = '\ufeff\ufeffWEBVTT\n\n00:01.000 --> 00:02.000\nA\n\n00:03.000 --> 00:04.000\nB\n';
  expect(read(text.replaceAll('\n', '\r\r\n')).map((cue) => cue.text)).toEqual(['A', 'B']);
});

test('what follows the times may contain any character', () => {
  const settings = `${' '.repeat(1000)}x\u2028line:0 `;
  expect(read(`WEBVTT\n\n00:01.000 --> 00:02.000${settings}\nA`)).toEqual([
    { start: 1000, end: 2000, settings: 'line:0', text: 'A' },
  ]);
});

test('an empty file, and one that lost its line breaks, say how to send it', () => {
  for (const format of ['webvtt', 'subrip'] as const) {
    expect(errorOf(' \n', format)?.[1]).toBe(
      'The file cannot be read: it is empty. With curl, send it with --data-binary @captions.vtt.',
    );
  }
  const advice = 'Send the file unchanged. With curl, use --data-binary: --data removes line breaks.';
  const expected = [1, `Line 1: the file has no line breaks. ${advice}`];
  expect(errorOf('WEBVTT00:01.000 --> 00:02.000Hello', 'webvtt')).toEqual(expected);
  expect(errorOf('100:00:01,000 --> 00:00:02,000Hello', 'subrip')).toEqual(expected);
});

test('a cue that begins at or after the end of the video is an error in its line', () => {
  const file = Buffer.from('WEBVTT\n\n00:01.000 --> 00:09.000\nA\n\nid\n00:02.040 --> 00:03.000\nB');
  expect(readCaptions(file, 'webvtt', 2.0401)).toHaveLength(2);
  expect(() => readCaptions(file, 'webvtt', 2.04)).toThrow(
    'Line 6: the cue begins at 00:00:02.040, but the video ends at 00:00:02.040. Check that the file belongs to this video, and correct the times.',
  );
  const empty = Buffer.from(
    'WEBVTT\n\n00:01.000 --> 00:02.000\nA\n\n00:09.000 --> 00:09.000\nB\n\n00:09.000 --> 00:10.000\n<b></b>',
  );
  expect(readCaptions(empty, 'webvtt', 2)).toHaveLength(1);
});
