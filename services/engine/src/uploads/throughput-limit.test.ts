import { describe, expect, test } from '@jest/globals';
import { ThroughputLimit, type ThroughputVerdict } from './throughput-limit.ts';

const LIMITS = { idleSeconds: 60, minBytesPerSecond: 1000, recentSeconds: 3 };

/** One verdict per second. */
function verdicts(bytesEachSecond: number[], backpressure = false): ThroughputVerdict[] {
  const limit = new ThroughputLimit(LIMITS);
  return bytesEachSecond.map((bytes) => limit.observe({ seconds: 1, bytes, backpressure }));
}

describe('the throughput limit of a transfer', () => {
  test('reports idle after the whole timeout without a byte', () => {
    const seen = verdicts([1_000_000, ...Array(60).fill(0)]);
    expect(seen.indexOf('idle')).toBe(60);
    expect(seen.slice(0, 60).every((verdict) => verdict === 'fine')).toBe(true);
  });

  test('does not report idle while single bytes arrive', () => {
    const seen = verdicts([10_000_000, ...Array(59).fill(0), 1, ...Array(59).fill(0)]);
    expect(new Set(seen)).toEqual(new Set(['fine']));
  });

  test('checks the average only after ten seconds', () => {
    expect(verdicts(Array(11).fill(999))).toEqual([...Array(9).fill('fine'), 'slow', 'slow']);
    expect(verdicts(Array(11).fill(1000))).toEqual(Array(11).fill('fine'));
  });

  test('allows slow phases while the average is high enough', () => {
    expect(new Set(verdicts([30_000, ...Array(29).fill(1)]))).toEqual(new Set(['fine']));
  });

  test('does not count time in which the object store accepts no more', () => {
    const limit = new ThroughputLimit(LIMITS);
    limit.observe({ seconds: 1, bytes: 9_500, backpressure: false });
    for (let second = 0; second < 50; second += 1) {
      expect(limit.observe({ seconds: 1, bytes: 0, backpressure: true })).toBe('fine');
    }
    for (let second = 0; second < 8; second += 1) {
      expect(limit.observe({ seconds: 1, bytes: 0, backpressure: false })).toBe('fine');
    }
    expect(limit.observe({ seconds: 1, bytes: 0, backpressure: false })).toBe('slow');
  });

  test('measures the recent throughput, without time in which the object store accepts no more', () => {
    const limit = new ThroughputLimit(LIMITS);
    const rates = [9000, 3000, 600, 0, 0, 0, 300].map((bytes) => {
      limit.observe({ seconds: 1, bytes: 5, backpressure: true });
      limit.observe({ seconds: 1, bytes, backpressure: false });
      return limit.bytesPerSecond;
    });
    expect(rates).toEqual([null, null, 4200, 1200, 200, 0, 100]);
  });

  test('reports stuck, not idle, when the object store accepts nothing for ten minutes', () => {
    const seen = verdicts(Array(600).fill(0), true);
    expect(seen.indexOf('stuck')).toBe(599);
    expect(seen).not.toContain('idle');
  });
});
