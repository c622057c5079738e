import { expect, test } from '@jest/globals';
import MiniSearch from 'minisearch';
import { findEntries, LONGEST_QUERY, SEARCH_OPTIONS, type SearchEntry } from '../browser/search-options.ts';
import { searchIndex } from './search-index.ts';

const page = (name: string, title: string, html: string) => ({
  page: { name, title, summary: 'A page.', section: 'Guides', markdown: '' },
  html: `<h1>${title}</h1>${html}`,
});

const index = MiniSearch.loadJSON<SearchEntry>(
  searchIndex([
    page(
      'uploads',
      'Uploads',
      '<p>A ticket of a video.</p><h2 id="limits">Limits</h2><p>Resumable, large files.</p>',
    ),
    page('deletion', 'Deletion', '<p>What happens to a video.</p>'),
    page('console', 'The console', '<p>Its public URL.</p>'),
    page('configuration', 'Configuration', '<p>Set <code>PUBLIC_URL</code>.</p>'),
    page('downloads', 'Downloads', '<p>Files.</p>'),
    page('changelog', 'Changelog', '<p>Uploads of videos, and their deletion: delete a video.</p>'),
    page(
      'errors/file_too_large',
      'file_too_large',
      '<p>The file.</p><h2 id="what-to-do">What to do</h2>\n<p>Split.</p>',
    ),
  ]),
  SEARCH_OPTIONS,
);
const idsOf = (query: string) => findEntries(index, query).map(({ id }) => id);

test.each([
  ['upload a video', 'uploads'],
  ['How do I delete a video?', 'deletion'],
  ['resuming', 'uploads#limits'],
  ['PUBLIC_URL', 'configuration'],
  ['public_u', 'configuration'],
  ['file_too_large', 'errors/file_too_large'],
  ['uplod', 'uploads'],
])('a search for %j finds %s first', (query, first) => {
  expect(idsOf(query)[0]).toBe(first);
});

test('entries with some of the words are found if none has all', () => {
  expect(idsOf('configuration of a zeppelin')).toContain('configuration');
  expect(idsOf('zeppelin')).toEqual([]);
});

test.each(['deletion', 'configuration', 'uploads'])('%s is found while it is typed', (name) => {
  const typed = Array.from(name, (_, at) => name.slice(0, at + 1)).slice(1);
  expect(typed.filter((text) => !idsOf(text).includes(name))).toEqual([]);
});

test('a word of questions is searched if it is alone', () => {
  expect(idsOf('an')).toEqual([]);
  expect(idsOf('co')).toContain('console');
  expect(idsOf('do')).toContain('downloads');
});

test('an error is one entry', () => {
  expect(idsOf('split')).toEqual(['errors/file_too_large']);
});

test('a result shows the summary of a page, and the beginning of a part', () => {
  const excerptOf = (id: string) => findEntries(index, 'upload').find((each) => each.id === id)?.excerpt;
  expect(excerptOf('uploads')).toBe('A page.');
  expect(excerptOf('uploads#limits')).toBe('Resumable, large files.');
});

test('long queries are cut', () => {
  expect(idsOf(`${' '.repeat(LONGEST_QUERY)}uploads`)).toEqual([]);
});
