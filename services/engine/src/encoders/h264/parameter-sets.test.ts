import { describe, expect, test } from '@jest/globals';
import { foundConfigurations } from '../../../tests/support/found-configurations.ts';
import { ParameterSets } from './parameter-sets.ts';

describe('parameter sets', () => {
  const inStream = (...units: string[]) =>
    foundConfigurations(
      () => new ParameterSets(),
      Buffer.from(units.map((unit) => `000001${unit}`).join(''), 'hex'),
    );

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
