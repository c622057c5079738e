import { expect, test } from '@jest/globals';
import { partsOf } from './headings.ts';

test('a page is split at its headings of the levels 2 and 3', () => {
  const { lead, parts } = partsOf(
    '<h1>A</h1><p>b</p><h2 id="c-d">C &amp; <code>d</code></h2><p>e</p><h4 id="f">F</h4><h3 id="g">G</h3><p>h</p>',
  );
  expect(lead).toBe('<h1>A</h1><p>b</p>');
  expect(parts).toEqual([
    { level: 2, anchor: 'c-d', title: 'C & d', html: '</h2><p>e</p><h4 id="f">F</h4>' },
    { level: 3, anchor: 'g', title: 'G', html: '</h3><p>h</p>' },
  ]);
});

test('a page without headings is its lead', () => {
  expect(partsOf('<p>a</p>')).toEqual({ lead: '<p>a</p>', parts: [] });
});
