import { expect, test } from '@jest/globals';
import { normalizeSettings, settingsOfPosition } from './cue-settings.ts';
import { normalizeText } from './cue-text.ts';

test.each([
  ['kept tags', '<b>A</b> <i>B</i> <u>C</u>', '<b>A</b> <i>B</i> <u>C</u>'],
  ['upper case', '<B>A</B>', '<b>A</b>'],
  ['classes', '<c.yellow.bg_blue>A</c> <b.loud>B</b>', 'A <b>B</b>'],
  ['a speaker', '<v.loud  Mary &amp;  Co>Hi', '<v Mary &amp; Co>Hi</v>'],
  ['a speaker without a name', '<v>Hi</v>', 'Hi'],
  ['fonts', '<font color="#ff0000" onclick=\'x()\'>Red</font>', 'Red'],
  ['scripts', '<script>alert(1)</script><img src=x onerror=alert(1)>', 'alert(1)'],
  ['a tag that is not closed', '<b><i>A', '<b><i>A</i></b>'],
  ['a tag closed in the wrong order', '<b><i>A</b>B</i>', '<b><i>A</i></b>B'],
  ['a closed tag that was not opened', 'A</i>', 'A'],
  ['times for karaoke', 'A <00:01.000>B', 'A B'],
  ['comparisons', '1 < 2 > 0 & <3', '1 &lt; 2 &gt; 0 &amp; &lt;3'],
  ['entities', '&lt;b&gt; &amp; &nbsp;&unknown;', '&lt;b&gt; &amp; \u00a0&amp;unknown;'],
  ['character references', '&#39;&quot;&#x41; &copy; &eacute;&apos;', "'\"A © é'"],
  ['references to control characters and line breaks', '&#7;A&Tab;B&NewLine;&#10;&#13;C&#0;', 'A B\nC\ufffd'],
  ['a reference to a tag', '&lt;i&gt;&#60;b&#62;', '&lt;i&gt;&lt;b&gt;'],
  ['references to no character', '&#; &#x; &; &#x110000; &#xD800;', '&amp;#; &amp;#x; &amp;; \ufffd \ufffd'],
  ['references in the name of a speaker', '<v Ren&eacute;e &#38; Co&#10;>Hi', '<v Renée &amp; Co>Hi</v>'],
  ['an arrow at the end of the name of a speaker', '<v Mary -->Hi', '<v Mary -- >Hi</v>'],
  ['an arrow', 'A --> B', 'A --&gt; B'],
  ['self-closing tags', 'A<br/>B', 'AB'],
  ['override codes', '{\\an8\\pos(1,2)}A {curly}', 'A {curly}'],
  [
    'override codes within each other, without an end, and by references',
    '{\\{\\a}}A {\\b {&#92;c}',
    '{}A {b {c}',
  ],
  ['control characters and blank lines', '\u0007A\t \n \nB\u0085', 'A\nB'],
  ['ruby', '<ruby>漢<rt>kan</rt></ruby>', '<ruby>漢<rt>kan</rt></ruby>'],
])('%s', (_, text, expected) => {
  expect(normalizeText(text, 'webvtt')).toBe(expected);
});

test('only in WebVTT, some character references need no semicolon', () => {
  expect(normalizeText('A&ampB &copy C &#33', 'webvtt')).toBe('A&amp;B © C !');
  expect(normalizeText('black&notes &copy &#33 &copy;&#33;', 'subrip')).toBe(
    'black&amp;notes &amp;copy &amp;#33 ©!',
  );
});

test('tags that are nested too deep are removed, and their ends close no other tag', () => {
  const [begin, end] = ['<b>'.repeat(16), '</b>'.repeat(16)];
  expect(normalizeText(`${begin}<b><i>A</i></b>B${end}C`, 'webvtt')).toBe(`${begin}AB${end}C`);
  expect(normalizeText(`<i>${'<b>'.repeat(500)}A</i>B`, 'webvtt')).toBe(
    `<i>${'<b>'.repeat(15)}A${'</b>'.repeat(15)}</i>B`,
  );
  expect(normalizeText(`${'<b>'.repeat(500)}A`, 'subrip')).toBe(`${begin}A${end}`);
});

test.each([
  ['line:-1,end position:50%,center size:80.5% align:center vertical:rl', true],
  ['line:101% position:1e2% size:-1% align:middle vertical:up colour:red region:x', false],
])('settings %s', (settings, kept) => {
  expect(normalizeSettings(settings)).toBe(kept ? settings : '');
});

test.each([
  ['{\\an1}', 'align:left'],
  ['{\\an2}', ''],
  ['{\\an6}', 'line:50% align:right'],
  ['{\\an8}', 'line:0'],
  ['no code', ''],
])('the position of %s', (text, expected) => {
  expect(settingsOfPosition(text)).toBe(expected);
});
