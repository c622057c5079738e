import { describe, expect, test } from '@jest/globals';
import { PacketBudget } from './packet-budget.ts';

const MIB = 1024 ** 2;

/** The number of packets of a size that the budget accepts, up to a limit. */
function accepted(budget: PacketBudget, bytes: number, limit: number): number {
  for (let packets = 0; packets < limit; packets += 1) {
    try {
      budget.spend(bytes);
    } catch (error) {
      expect(error).toMatchObject({ code: 'malformed_media', retryable: false });
      return packets;
    }
  }
  return limit;
}

describe('the packet budget', () => {
  test('allows 1,000 packets per second of the maximum duration', () => {
    expect(accepted(new PacketBudget(500, 10), 0, 20_000)).toBe(10 * 1000);
  });

  test('limits the total size to four times the file and 64 MiB', () => {
    expect(accepted(new PacketBudget(10 * MIB, 10), MIB, 1000)).toBe(4 * 10 + 64);
  });

  test('counts packets of unknown size', () => {
    expect(accepted(new PacketBudget(10_000, 1), Number.NaN, 2000)).toBe(1000);
  });
});
