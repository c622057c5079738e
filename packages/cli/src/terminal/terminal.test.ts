import { describe, expect, test } from '@jest/globals';
import { durationText, sizeText } from './amounts.ts';
import { ProgressLine } from './progress-line.ts';
import { facts, table } from './table.ts';
import { terminalJson, terminalText } from './terminal-text.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [4_123_456, '4.1 MB'],
  [5e15, '5000.0 TB'],
])('%p bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test.each([
  [7.6, '8 s'],
  [125, '2 min 5 s'],
  [3780, '1 h 3 min'],
])('%p seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test('titles cannot move the cursor, add lines or reorder the text', () => {
  expect(terminalText('a\u001b[2Jb\nc\u202Ed')).toBe('a\\u001b[2Jb\\u000ac\\u202ed');
  expect(table(['ID', 'TITLE'], [['vid_1', 'a\nb']])).toBe('ID     TITLE\nvid_1  a\\u000ab\n');
  expect(facts({ Title: 'a\rb', Error: null, Page: undefined })).toBe('Title  a\\u000db\n');
  expect(facts({ Id: '1', Title: 'a' })).toBe('Id     1\nTitle  a\n');
  const json = terminalJson(JSON.stringify({ title: '\u009b\u202E' }));
  expect(json).toBe('{"title":"\\u009b\\u202e"}');
  expect(JSON.parse(json)).toEqual({ title: '\u009b\u202E' });
});

describe('progress', () => {
  function shown(
    isTerminal: boolean,
    json: boolean,
  ): { written: unknown[]; line: ProgressLine; pass: (ms: number) => void } {
    const written: unknown[] = [];
    let now = 0;
    const host = { isTerminal, columns: () => 12, writeError: (text: string) => void written.push(text) };
    const output = { json, data: (event: object) => void written.push(event) };
    const line = new ProgressLine(host, output, () => now);
    const pass = (ms: number) => {
      now += ms;
    };
    return { written, line, pass };
  }

  test('writes a line over in a terminal, cut to its width', () => {
    const { written, line, pass } = shown(true, false);
    line.show('holiday.mp4: 1 %', {});
    line.show('too soon', {});
    pass(100);
    line.show('2 %', {});
    line.clear();
    line.clear();
    expect(written).toEqual(['\rholiday.mp4\u001b[K', '\r2 %\u001b[K', '\r\u001b[K']);
  });

  test('is a line every few seconds elsewhere', () => {
    const { written, line, pass } = shown(false, false);
    line.show('1 %', {});
    pass(4999);
    line.show('2 %', {});
    pass(1);
    line.show('3 %', {});
    line.clear();
    expect(written).toEqual(['1 %\n', '3 %\n']);
  });

  test('is an event with --json', () => {
    const { written, line } = shown(true, true);
    line.show('1 %', { sent: 1 });
    line.clear();
    expect(written).toEqual([{ type: 'progress', sent: 1 }]);
  });
});
