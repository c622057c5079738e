import { expect, test } from '@jest/globals';
import { searchOfTab, tabAt } from './tab-address.ts';

const TABS = ['overview', 'code'] as const;

test.each([
  ['', 'overview'],
  ['tab=code', 'code'],
  ['?tab=code&x=1', 'code'],
  ['tab=nothing', 'overview'],
  ['tab=', 'overview'],
])('the tab of %j is %s', (search, tab) => expect(tabAt(search, TABS)).toBe(tab));

test.each([
  ['', 'code', '?tab=code'],
  ['tab=code', 'overview', ''],
  ['x=1&tab=code', 'overview', '?x=1'],
  ['x=1', 'code', '?x=1&tab=code'],
])('%j with the tab %s is %j', (search, tab, query) => {
  expect(searchOfTab(search, tab, 'overview')).toBe(query);
});
