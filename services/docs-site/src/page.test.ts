import { expect, test } from '@jest/globals';
import { summaryOf, titleOf } from './page.ts';

test.each([
  [
    'skips the sentence about readers',
    '# A\n\nThis page is for operators. It lists\n`npm start` and 1.5 more. And so on.\n',
    'It lists npm start and 1.5 more.',
  ],
  ['keeps it if there is no other', '# A\n\nThis page is for operators.\n', 'This page is for operators.'],
  [
    'skips headings, lists and tables',
    '# A\n\n## B\n\n- c\n\n| d |\n\nThe [text](x.md) of *it*. More.\n',
    'The text of it.',
  ],
  [
    'is the beginning of a decision',
    '# 1. A\n\nStatus: accepted.\n\n## Decision\n\n**Files.** No rows.\n',
    'Files.',
  ],
  ['is empty without a paragraph', '# A\n\n- b\n', ''],
])('a summary %s', (_, markdown, summary) => {
  expect(summaryOf(markdown)).toBe(summary);
});

test('a page must begin with its title', () => {
  expect(titleOf('# The `console`\n')).toBe('The console');
  expect(() => titleOf('No heading\n')).toThrow('must begin with a heading: No heading');
});
