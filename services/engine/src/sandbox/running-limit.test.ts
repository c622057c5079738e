import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { RunningLimit } from './running-limit.ts';

describe('a time limit that counts only running time', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test.each([0.05, 0.5, 20, 120])('passes after %d seconds', (seconds) => {
    const onLimit = jest.fn();
    const limit = new RunningLimit(seconds, onLimit);
    jest.advanceTimersByTime(seconds * 1000 - 1);
    expect(onLimit).not.toHaveBeenCalled();
    jest.advanceTimersByTime(10);
    expect(onLimit).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(seconds * 1000);
    expect(onLimit).toHaveBeenCalledTimes(1);
    limit.clear();
  });

  test('counts from zero after a refresh, and never passes after its end', () => {
    const onLimit = jest.fn();
    const limit = new RunningLimit(20, onLimit);
    jest.advanceTimersByTime(15_000);
    limit.refresh();
    jest.advanceTimersByTime(15_000);
    limit.clear();
    jest.advanceTimersByTime(60_000);
    expect(onLimit).not.toHaveBeenCalled();
  });
});
