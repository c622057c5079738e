import { expect, test } from '@jest/globals';
import { searchedTexts } from './searched-texts.ts';

test.each<[string, string[]]>([
  ['', []],
  ['  ', []],
  ['Summer', ['Summer']],
  [' holiday  summer\tholiday ', ['holiday', 'summer']],
  ['a b c d e f g h i j', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']],
  ['a b c d e f g h i j  k', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j k']],
])('the texts of the search "%s" are %j', (search, texts) => {
  expect(searchedTexts(search)).toEqual(texts);
});
