import { expect, test } from '@jest/globals';
import { readOptions } from './options.ts';

const NONE = {
  token: undefined,
  autoplay: false,
  muted: false,
  loop: false,
  remember: false,
  start: undefined,
  color: undefined,
};

test('an empty query asks for nothing', () => {
  expect(readOptions('')).toEqual(NONE);
});

test('reads every option', () => {
  expect(readOptions('?token=a.b.c&autoplay=1&muted&loop=true&remember=1&start=12.5&color=F60')).toEqual({
    token: 'a.b.c',
    autoplay: true,
    muted: true,
    loop: true,
    remember: true,
    start: 12.5,
    color: '#F60',
  });
});

test.each([
  'autoplay=0',
  'muted=false',
  'loop=no',
  'remember=0',
  'autoplay=off',
  'start=-5',
  'start=',
  'start=soon',
  'start=Infinity',
  'color=red',
  'color=url(x)',
])('%s counts as absent', (query) => {
  expect(readOptions(`?${query}`)).toEqual(NONE);
});

test('the beginning of the video is a time to start at', () => {
  expect(readOptions('?start=0').start).toBe(0);
});

test('a colour may begin with a percent-encoded #', () => {
  expect(readOptions('?color=%23ff6600').color).toBe('#ff6600');
});
