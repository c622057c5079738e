import { describe, expect, test } from '@jest/globals';
import { PacketBudget } from './packet-budget.ts';

const MIB = 1024 ** 2;

/** How many packets are accepted, up to a maximum. */
function accepted(budget: PacketBudget, bytes: number, most: number): number {
  for (let packets = 0; packets < most; packets += 1) {
    try {
      budget.spend(bytes);
    } catch (error) {
      expect(error).toMatchObject({ code: 'malformed_media', retryable: false });
      return packets;
    }
  }
  return most;
}

describe('a budget of packets', () => {
  test('ends with their number', () => {
    expect(accepted(new PacketBudget(10_000, 10), 0, 20_000)).toBe(10_000);
  });

  test('ends with their bytes, of which a file may have some twice', () => {
    expect(accepted(new PacketBudget(10 * MIB, 10), MIB, 1000)).toBe(4 * 10 + 64);
  });

  test('counts packets without a size', () => {
    expect(accepted(new PacketBudget(10_000, 1), Number.NaN, 2000)).toBe(1000);
  });
});
