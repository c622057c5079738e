import { PROBLEMS } from '@framelane/contracts/problem-codes';
import { expect, test } from '@jest/globals';
import { problemPages } from './problem-pages.ts';
import { PROBLEM_WORDS } from './problem-words.ts';
import { sitePages } from './site-pages.ts';

test('every problem has a page with its status, its words and an example from the contract', () => {
  const pages = new Map(problemPages('Reference').map((page) => [page.name, page.markdown]));
  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    const page = pages.get(`errors/${code}`);
    expect(page).toContain(`**${title}**, HTTP status ${status}`);
    expect(page).toContain(PROBLEM_WORDS[code as keyof typeof PROBLEMS].action);
    expect(pages.get('errors')).toContain(`[\`${code}\`](/url-of-these-docs/errors/${code})`);
  }
  expect(pages.get('errors/video_not_found')).toContain('"code": "video_not_found"');
});

test('the guides of problems are pages', () => {
  const names = sitePages().map(({ name }) => name);
  const guides = Object.values(PROBLEM_WORDS).flatMap(({ guide }) => guide ?? []);
  expect(guides.filter((guide) => !names.includes(guide))).toEqual([]);
});

test('the words are sentences', () => {
  const wrong = Object.entries(PROBLEM_WORDS).filter(
    ([, { when, action }]) => !/\.$/.test(when) || !/\.$/.test(action),
  );
  expect(wrong).toEqual([]);
});
