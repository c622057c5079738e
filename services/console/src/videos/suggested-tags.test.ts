import { expect, test } from '@jest/globals';
import { readTags } from './bulk.ts';
import { completeTyped, splitTyped, suggestedTags, tagsOf } from './suggested-tags.ts';

const KNOWN = ['outdoor', 'campaign', 'Out of office', 'about'];

test('tags that contain the text and are not chosen are suggested, in their order', () => {
  expect(suggestedTags(KNOWN, { chosen: [], typed: '' })).toEqual(KNOWN);
  expect(suggestedTags(KNOWN, { chosen: ['about'], typed: ' OUT' })).toEqual(['outdoor', 'Out of office']);
  const many = Array.from({ length: 20 }, (_, at) => `tag ${at}`);
  expect(suggestedTags(many, { chosen: [], typed: 'tag' })).toEqual(many.slice(0, 8));
});

test('a suggestion takes the place of the text after the last comma', () => {
  expect(splitTyped('sea, sun, ou')).toEqual({ chosen: ['sea', 'sun'], typed: 'ou' });
  expect(splitTyped('')).toEqual({ chosen: [], typed: '' });
  expect(splitTyped('sea,')).toEqual({ chosen: ['sea'], typed: '' });
  expect(completeTyped('sea, sun, ou', 'outdoor')).toBe('sea, sun, outdoor, ');
  expect(readTags(completeTyped('ou', 'outdoor'))).toEqual(['outdoor']);
});

test('the tags of videos are those of most of them first', () => {
  expect(tagsOf([{ tags: ['a', 'b'] }, { tags: ['b'] }, { tags: [] }])).toEqual(['b', 'a']);
});
