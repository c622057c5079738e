import { createLogger } from '@framelane/service-kit/logger';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { WorkLease, WorkObsoleteError } from './work-lease.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A lease, what it reported, and the checks that it made. */
function leaseOf(leaseSeconds: number) {
  const report = jest.fn<(fraction: number) => Promise<void>>(async () => {});
  const isCurrent = jest.fn<() => Promise<boolean>>(async () => true);
  const facts = { videoId: 'vid_1', attempt: 2 };
  const logger = createLogger({ service: 'test', level: 'silent' });
  const warn = jest.spyOn(logger, 'warn');
  const lease = new WorkLease({ leaseSeconds, facts, report, isCurrent }, logger);
  const warnings = () => warn.mock.calls.map((call: unknown[]) => call);
  const reported = () => report.mock.calls.map(([fraction]) => fraction);
  return { lease, report, isCurrent, reported, warnings };
}

describe('a lease', () => {
  test('is renewed by each report of progress, every two seconds', async () => {
    const { lease, reported } = leaseOf(120);
    lease.progress(0.25);
    await jest.advanceTimersByTimeAsync(1999);
    expect(reported()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(reported()).toEqual([0.25]);
    lease.progress(0.2);
    await jest.advanceTimersByTimeAsync(2000);
    expect(reported()).toEqual([0.25]);
    lease.progress(0.2505);
    await jest.advanceTimersByTimeAsync(2000);
    expect(reported()).toEqual([0.25]);
    lease.progress(0.251);
    await jest.advanceTimersByTimeAsync(2000);
    expect(reported()).toEqual([0.25, 0.251]);
    lease.stop();
  });

  test('is renewed after a quarter of its duration without progress', async () => {
    const { lease, reported } = leaseOf(120);
    await jest.advanceTimersByTimeAsync(29_000);
    expect(reported()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(reported()).toEqual([0]);
    await jest.advanceTimersByTimeAsync(29_000);
    expect(reported()).toEqual([0]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(reported()).toEqual([0, 0]);
    lease.stop();
  });

  test('is renewed at once on request, and once more for all requests during that report', async () => {
    const { lease, report, reported } = leaseOf(120);
    const { promise, resolve } = Promise.withResolvers<void>();
    report.mockReturnValueOnce(promise);
    lease.reportSoon();
    lease.reportSoon();
    lease.reportSoon();
    expect(reported()).toEqual([0]);
    resolve();
    await jest.advanceTimersByTimeAsync(0);
    expect(reported()).toEqual([0, 0]);
    await jest.advanceTimersByTimeAsync(4000);
    expect(reported()).toEqual([0, 0]);
    lease.stop();
  });

  test('is renewed often enough if it is short', async () => {
    const { lease, reported } = leaseOf(4);
    await jest.advanceTimersByTimeAsync(3000);
    expect(reported()).toEqual([0, 0, 0]);
    lease.stop();
  });

  test('is renewed at the next interval if a report fails', async () => {
    const { lease, report, reported } = leaseOf(120);
    report.mockRejectedValueOnce(new Error('The broker is unavailable'));
    lease.progress(0.5);
    await jest.advanceTimersByTimeAsync(4000);
    expect(reported()).toEqual([0.5, 0.5]);
    lease.stop();
  });

  test('is renewed at the next interval if a requested report fails', async () => {
    const { lease, report, reported } = leaseOf(120);
    report.mockRejectedValueOnce(new Error('The broker is unavailable'));
    lease.reportSoon();
    await jest.advanceTimersByTimeAsync(2000);
    expect(reported()).toEqual([0, 0]);
    await jest.advanceTimersByTimeAsync(2000);
    expect(reported()).toEqual([0, 0]);
    lease.stop();
  });

  test('logs which heartbeat failed, of which work', async () => {
    const { lease, report, isCurrent, warnings } = leaseOf(120);
    const error = new Error('unavailable');
    report.mockRejectedValueOnce(error);
    isCurrent.mockRejectedValueOnce(error);
    lease.progress(0.5);
    await jest.advanceTimersByTimeAsync(5000);
    const facts = { videoId: 'vid_1', attempt: 2, error };
    expect(warnings()).toEqual([
      ['work.heartbeat_failed', { ...facts, heartbeat: 'report' }],
      ['work.heartbeat_failed', { ...facts, heartbeat: 'check' }],
    ]);
    lease.stop();
  });

  test('has one report at a time, also if one is requested', async () => {
    const { lease, report } = leaseOf(120);
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    report.mockReturnValueOnce(confirmed);
    lease.progress(0.5);
    await jest.advanceTimersByTimeAsync(2000);
    lease.reportSoon();
    expect(report).toHaveBeenCalledTimes(1);
    confirm();
    await jest.advanceTimersByTimeAsync(0);
    expect(report).toHaveBeenCalledTimes(2);
    lease.stop();
  });

  test('has one report at a time', async () => {
    const { lease, report } = leaseOf(4);
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    report.mockReturnValueOnce(confirmed);
    await jest.advanceTimersByTimeAsync(5000);
    expect(report).toHaveBeenCalledTimes(1);
    confirm();
    await jest.advanceTimersByTimeAsync(1000);
    expect(report).toHaveBeenCalledTimes(2);
    lease.stop();
  });

  test('is checked every five seconds, and the work aborts when it is no longer current', async () => {
    const { lease, isCurrent } = leaseOf(120);
    await jest.advanceTimersByTimeAsync(5000);
    expect(isCurrent).toHaveBeenCalledTimes(1);
    isCurrent.mockRejectedValueOnce(new Error('The control plane is unavailable'));
    await jest.advanceTimersByTimeAsync(5000);
    expect(lease.signal.aborted).toBe(false);
    isCurrent.mockResolvedValueOnce(false);
    await jest.advanceTimersByTimeAsync(5000);
    expect(lease.signal.reason).toBeInstanceOf(WorkObsoleteError);
    expect(isCurrent).toHaveBeenCalledTimes(3);
    lease.stop();
  });

  test('is neither renewed nor checked after a stop', async () => {
    const { lease, report, isCurrent } = leaseOf(4);
    lease.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(report).not.toHaveBeenCalled();
    expect(isCurrent).not.toHaveBeenCalled();
  });
});
