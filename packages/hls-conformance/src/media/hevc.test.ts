import { expect, test } from '@jest/globals';
import { hevcSyntax } from './hevc.ts';

const { isMessage } = hevcSyntax('hvc1');
/** A NAL unit with a header of two bytes. */
const unit = (type: number, ...bytes: number[]) => Buffer.from([type << 1, 1, ...bytes]);

test.each([
  ['the transfer function of HLG', unit(39, 147, 1, 18, 0x80), false],
  ['that and another message', unit(39, 147, 1, 18, 4, 1, 0, 0x80), true],
  ['a longer message of that type', unit(39, 147, 2, 18, 0, 0x80), true],
  ['a message of a user', unit(39, 5, 1, 0, 0x80), true],
  ['a message after the frame', unit(40, 5, 1, 0, 0x80), true],
  ['an empty message', unit(39), true],
  ['a slice', unit(20, 147, 1, 18, 0x80), false],
])('%s', (_, bytes, expected) => {
  expect(isMessage(bytes)).toBe(expected);
});
