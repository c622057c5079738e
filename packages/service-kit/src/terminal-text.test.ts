import { expect, test } from '@jest/globals';
import { terminalJson, terminalText } from './terminal-text.ts';

const HOSTILE = 'a\u001B[2Jb\r\nc\u009B31md\u202Ee\u2066f\u2028g\u007F';

test('escapes what a terminal interprets', () => {
  expect(terminalText(HOSTILE)).toBe(
    String.raw`a\u001b[2Jb\u000d\u000ac\u009b31md\u202ee\u2066f\u2028g\u007f`,
  );
});

test('does not change letters of any script, emoji or joiners', () => {
  const text = 'Über · 東京 · שלום · 👩‍👩‍👧 · क्‍ष';
  expect(terminalText(text)).toBe(text);
});

test('does not change the value of JSON', () => {
  const json = terminalJson(JSON.stringify({ title: HOSTILE }, null, 2));
  expect(json).not.toMatch(/[\u007F-\u009F\u202E\u2066\u2028]/);
  expect(json.split('\n')).toHaveLength(3);
  expect(JSON.parse(json)).toEqual({ title: HOSTILE });
});
