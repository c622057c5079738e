import { describe, expect, test } from '@jest/globals';
import { AdtsHeaders, ParameterSets, type StreamConfiguration } from './stream-configuration.ts';

/** What is found in a stream that arrives in chunks of every length. They must agree. */
function found(create: () => StreamConfiguration, stream: Buffer): string[] {
  const results = Array.from({ length: stream.length }, (_, at) => {
    const configuration = create();
    for (let from = 0; from < stream.length; from += at + 1) {
      configuration.push(stream.subarray(from, from + at + 1), from === 0);
    }
    return [...configuration.found];
  });
  const [first = []] = results;
  expect(results).toEqual(results.map(() => first));
  return first;
}

describe('parameter sets', () => {
  const inStream = (...units: string[]) =>
    found(() => new ParameterSets(), Buffer.from(units.map((unit) => `000001${unit}`).join(''), 'hex'));

  test('are found with start codes of three and of four bytes', () => {
    expect(inStream('0910', '676400aa00', '68cc', '6588')).toEqual(['6400aa']);
  });

  test('are equal if they are repeated, whatever the importance of their NAL units is', () => {
    expect(inStream('676400aa', '6588', '276400aa', '6588')).toEqual(['6400aa']);
  });

  test('are found after a slice, too', () => {
    expect(inStream('676400aa', '6588', '676400ab', '68cc', '41')).toEqual(['6400aa', '6400ab']);
  });

  test('are not more than two', () => {
    expect(inStream('6701', '6702', '6703', '68')).toEqual(['01', '02']);
  });

  test('are not other NAL units, or the bytes of a unit that ends with the stream', () => {
    expect(inStream('68676400aa', '656767', '67')).toEqual([]);
  });

  test('that are very long are compared to a limit', () => {
    const sets = new ParameterSets();
    sets.push(Buffer.from('00000167', 'hex'));
    for (let at = 0; at < 100; at += 1) sets.push(Buffer.alloc(184, 1));
    expect([...sets.found].map(({ length }) => length)).toEqual([2 * 4096]);
  });
});

describe('ADTS headers', () => {
  /** A frame of AAC-LC with a sampling frequency index and a number of channels. */
  const frame = (rate: number, channels: number, bytes = 9) => {
    const header = Buffer.concat([Buffer.from('fff10000001ffc', 'hex'), Buffer.alloc(bytes - 7)]);
    header.writeUInt16BE(0x4000 | (rate << 10) | (channels << 6), 2);
    header.writeUIntBE(header.readUIntBE(3, 3) | (bytes << 5), 3, 3);
    return header;
  };
  const inStream = (...frames: Buffer[]) => found(() => new AdtsHeaders(), Buffer.concat(frames));

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
