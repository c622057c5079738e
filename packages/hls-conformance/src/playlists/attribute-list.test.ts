import { expect, test } from '@jest/globals';
import { readAttributeList } from './attribute-list.ts';

test('values keep their commas, equals signs and apostrophes', () => {
  const { attributes, violations } = readAttributeList(
    `NAME="Director's cut, a=b",CODECS="avc1.64001f,mp4a.40.2",X-OWN=4`,
  );
  expect([...attributes].map(([name, { text }]) => [name, text])).toEqual([
    ['NAME', "Director's cut, a=b"],
    ['CODECS', 'avc1.64001f,mp4a.40.2'],
    ['X-OWN', '4'],
  ]);
  expect(violations).toEqual([]);
});

test.each([
  ['BANDWIDTH=1, CODECS="a"', 'blanks before'],
  ['BANDWIDTH=1,BANDWIDTH=2', 'BANDWIDTH twice'],
  ['BANDWIDTH=1,', 'ends with a comma'],
  ['BANDWIDTH=1.5', 'not a valid integer'],
  ['RESOLUTION=640*360', 'not a valid resolution'],
  ['IV=12ab', 'not a valid hexadecimal'],
  ['URI=key', 'URI without quotation marks'],
  ['METHOD="AES-128"', 'METHOD in quotation marks'],
  ['CLOSED-CAPTIONS=cc', 'CLOSED-CAPTIONS without quotation marks'],
  ['name=1', 'cannot be read'],
  ['NAME="open', 'cannot be read'],
  ['BANDWIDTH', 'cannot be read'],
])('%s: %s', (list, violation) => {
  expect(readAttributeList(list).violations.join()).toContain(violation);
});
