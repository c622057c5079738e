import { expect, test } from '@jest/globals';
import { COLOURS, captionStyleIn, cueRules, DEFAULT_STYLE, SIZES } from './caption-style.ts';

test('the default leaves captions to the browser', () => {
  expect(cueRules(DEFAULT_STYLE)).toBe('');
});

test('a style sets the size of the text and its colours', () => {
  expect(cueRules({ size: '1.5', colours: 'yellow-on-black' })).toBe(
    'video::cue { font-size: 1.5em; color: #ff0; background: #000; }',
  );
});

test('every choice but the default has a rule of its own', () => {
  const rules = [
    ...SIZES.map(({ value: size }) => cueRules({ ...DEFAULT_STYLE, size })),
    ...COLOURS.map(({ value: colours }) => cueRules({ ...DEFAULT_STYLE, colours })),
  ].filter((rule) => rule !== '');
  expect(new Set(rules).size).toBe(SIZES.length + COLOURS.length - 2);
});

test.each([undefined, 'text', { size: '1em; } * { display: none', colours: 'constructor' }])(
  'the stored value %j counts as the default',
  (value) => {
    expect(captionStyleIn(value)).toEqual(DEFAULT_STYLE);
  },
);

test('a stored style is read', () => {
  const style = { size: '2', colours: 'outline' };
  expect(captionStyleIn(style)).toEqual(style);
});
