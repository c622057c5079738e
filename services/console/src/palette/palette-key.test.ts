import { expect, test } from '@jest/globals';
import { COMMAND_KEY, opensPalette } from './palette-key.ts';

const held = {
  ctrlKey: COMMAND_KEY === 'Ctrl',
  metaKey: COMMAND_KEY !== 'Ctrl',
  altKey: false,
  shiftKey: false,
};

test.each([
  ['k', 'KeyK', true],
  ['K', 'KeyK', true],
  // Dvorak: the key at the place of K types a T.
  ['k', 'KeyV', true],
  ['t', 'KeyK', false],
  // Russian and Greek.
  ['л', 'KeyK', true],
  ['κ', 'KeyK', true],
  ['д', 'KeyL', false],
])('%p at the place of %s opens the palette: %p', (key, code, opens) => {
  expect(opensPalette({ key, code, ...held })).toBe(opens);
  expect(opensPalette({ key, code, ...held, ctrlKey: false, metaKey: false })).toBe(false);
  expect(opensPalette({ key, code, ...held, shiftKey: true })).toBe(false);
  // AltGr.
  expect(opensPalette({ key, code, ...held, altKey: true })).toBe(false);
});
