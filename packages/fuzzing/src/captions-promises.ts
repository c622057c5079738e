import { CaptionsError, type Cue } from '@framelane/captions/captions';
import { type CaptionsFormat, readCaptions } from '@framelane/captions/read-captions';
import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';
import { expectSame, expectThat, refusedWith } from './promises.ts';
import type { Target } from './target.ts';

/** A byte becomes this many at most: `&` becomes `&amp;`. */
const GROWTH = 6;
const TAGS = /<\/?(?:b|i|u|ruby|rt|v(?: [^<>]+)?)>|&(?:amp|lt|gt);/g;

const WORDS = [
  'WEBVTT',
  'NOTE',
  'STYLE',
  'REGION',
  '\n\n',
  '\r\n',
  '\r\r\n',
  '\ufeff',
  '-->',
  '00:01.000 --> 00:02.000',
  '00:00:01,000 --> 00:00:02,000',
  'line:0',
  'position:50%,center',
  'align:left',
  'size:80.5%',
  'vertical:rl',
  '{\\an8}',
  '{\\pos(1,2)}',
  '<b>',
  '</b>',
  '<i>',
  '<u>',
  '<v A>',
  '</v>',
  '<ruby>',
  '<rt>',
  '<c.x>',
  '<00:01.000>',
  '<script>',
  '<',
  '>',
  '&amp;',
  '&lt;',
  '&amp',
  '&#10;',
  '&#x3c;',
  '&nbsp;',
  '&lrm;',
  '\0',
  '\u2028',
  '\u0085',
];

/** What the targets that read captions share. */
export const CAPTIONS: Omit<Target, 'seeds' | 'run'> = {
  maxBytes: 2048,
  steps: { fixed: 3_000, perByte: 60 },
  dictionary: WORDS,
};

/** Reads captions and writes those that were not refused. */
export function readAndWrite(input: Buffer, format: CaptionsFormat): void {
  const cues = refusedWith([CaptionsError], () => readCaptions(input, format));
  if (cues === undefined) return;
  for (const cue of cues) expectHarmless(cue);
  const written = Buffer.from(webVttFile(cues.map(cueBlock)));
  const times = 80 * cues.length;
  expectThat(
    written.length <= GROWTH * input.length + times,
    'what is written is hardly larger than what was read',
  );
  expectSame(
    readCaptions(written, 'webvtt'),
    cues,
    'cues do not change when they are written and read again',
  );
}

function expectHarmless({ start, end, text, settings }: Cue): void {
  expectThat(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end, 'a cue has a duration');
  expectThat(text !== '' && !/-->|\n\n|\r|^\n|\n$/.test(text), 'a cue has no arrow and no blank line');
  expectThat(!/[<>&]/.test(text.replaceAll(TAGS, '')), 'a cue has no other tags');
  expectThat(!/[\n\r]|-->/.test(settings), 'settings are on the line of the times');
}
