import { describe, expect, test } from '@jest/globals';
import { foundConfigurations } from '../../../tests/support/found-configurations.ts';
import { AdtsHeaders, codecString } from './adts.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');

test.each([
  ['fff14c80', 'mp4a.40.2'],
  ['fff10c80', 'mp4a.40.1'],
  ['fff94c80', 'mp4a.40.2'],
])('the profile of AAC comes from its first header, %s', (header, expected) => {
  expect(codecString(bytes(header))).toBe(expected);
});

test.each([
  ['another synchronization word', '00f14c80'],
  ['half a synchronization word', 'ffe14c80'],
  ['MPEG audio of another layer', 'fff34c80'],
  ['nothing', ''],
])('audio that begins with %s is refused', (_, header) => {
  expect(() => codecString(bytes(header))).toThrow('does not begin with an ADTS header');
});

describe('ADTS headers', () => {
  /** A frame of AAC-LC with a sampling frequency index and a number of channels. */
  const frame = (rate: number, channels: number, bytes = 9) => {
    const header = Buffer.concat([Buffer.from('fff10000001ffc', 'hex'), Buffer.alloc(bytes - 7)]);
    header.writeUInt16BE(0x4000 | (rate << 10) | (channels << 6), 2);
    header.writeUIntBE(header.readUIntBE(3, 3) | (bytes << 5), 3, 3);
    return header;
  };
  const inStream = (...frames: Buffer[]) =>
    foundConfigurations(() => new AdtsHeaders(), Buffer.concat(frames));

  test('are equal if they differ in the length of their frames only', () => {
    expect(inStream(frame(3, 2), frame(3, 2, 400), frame(3, 2))).toEqual(['4c80']);
  });

  test.each([
    ['the sample rate', frame(4, 2)],
    ['the number of channels', frame(3, 1)],
  ])('differ if %s changes', (_what, other) => {
    expect(inStream(frame(3, 2), other)).toHaveLength(2);
  });

  test('are looked for at the beginning of each PES packet', () => {
    const headers = new AdtsHeaders();
    headers.push(frame(3, 2).subarray(0, 8), true);
    headers.push(frame(3, 2), true);
    headers.push(frame(3, 1), true);
    expect(headers.found.size).toBe(2);
  });
});
