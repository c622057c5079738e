import { describe, expect, test } from '@jest/globals';
import { Pace, type ThroughputVerdict } from './throughput-limit.ts';

const LIMITS = { idleSeconds: 60, minBytesPerSecond: 1000 };

/** The verdicts of one second after another. */
function verdicts(bytesEachSecond: number[], heldBack = false): ThroughputVerdict[] {
  const pace = new Pace(LIMITS);
  return bytesEachSecond.map((bytes) => pace.observe({ seconds: 1, bytes, heldBack }));
}

describe('the pace of a transfer', () => {
  test('is idle once no byte has come for the whole limit', () => {
    const seen = verdicts([1_000_000, ...Array(60).fill(0)]);
    expect(seen.indexOf('idle')).toBe(60);
    expect(seen.slice(0, 60).every((verdict) => verdict === 'fine')).toBe(true);
  });

  test('is not idle while a byte comes now and then', () => {
    const seen = verdicts([10_000_000, ...Array(59).fill(0), 1, ...Array(59).fill(0)]);
    expect(new Set(seen)).toEqual(new Set(['fine']));
  });

  test('is judged by its average only after ten seconds', () => {
    expect(verdicts(Array(11).fill(999))).toEqual([...Array(9).fill('fine'), 'slow', 'slow']);
    expect(verdicts(Array(11).fill(1000))).toEqual(Array(11).fill('fine'));
  });

  test('may sink for a while when the average holds', () => {
    expect(new Set(verdicts([30_000, ...Array(29).fill(1)]))).toEqual(new Set(['fine']));
  });

  test('does not count time in which the store held the client back', () => {
    const pace = new Pace(LIMITS);
    pace.observe({ seconds: 1, bytes: 9_500, heldBack: false });
    for (let second = 0; second < 50; second += 1) {
      expect(pace.observe({ seconds: 1, bytes: 0, heldBack: true })).toBe('fine');
    }
    for (let second = 0; second < 8; second += 1) {
      expect(pace.observe({ seconds: 1, bytes: 0, heldBack: false })).toBe('fine');
    }
    expect(pace.observe({ seconds: 1, bytes: 0, heldBack: false })).toBe('slow');
  });

  test('is stuck, not idle, when the store takes nothing for ten minutes', () => {
    const seen = verdicts(Array(600).fill(0), true);
    expect(seen.indexOf('stuck')).toBe(599);
    expect(seen).not.toContain('idle');
  });
});
