import type { CheckAttemptRequest } from '@framelane/contracts/internal-api';
import type { Message } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { AttemptLease, AttemptObsoleteError } from './attempt-lease.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A lease, what it reported, and the checks that it made. */
function leaseOf(leaseSeconds: number) {
  const publish = jest.fn<(message: Message) => Promise<void>>(async () => {});
  const isAttemptCurrent = jest.fn<(request: CheckAttemptRequest) => Promise<boolean>>(async () => true);
  const lease = new AttemptLease(
    { videoId: 'vid_1', attempt: 2, leaseSeconds },
    {
      bus: { publish } as Partial<MessageBus> as MessageBus,
      controlPlane: { claimAttempt: async () => null, isAttemptCurrent },
      logger: createLogger({ service: 'test', level: 'silent' }),
    },
  );
  const reported = () => publish.mock.calls.map(([{ data }]) => (data as { fraction: number }).fraction);
  return { lease, publish, isAttemptCurrent, reported };
}

describe('the lease of an attempt', () => {
  test('is renewed by each report of progress, every two seconds', async () => {
    const { lease, publish, reported } = leaseOf(120);
    lease.progress(0.25);
    await jest.advanceTimersByTimeAsync(1999);
    expect(reported()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(publish).toHaveBeenCalledWith(
      expect.objectContaining({
        type: 'transcode.progress',
        data: { videoId: 'vid_1', attempt: 2, fraction: 0.25 },
      }),
    );
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

  test('is renewed often enough if it is short', async () => {
    const { lease, reported } = leaseOf(4);
    await jest.advanceTimersByTimeAsync(3000);
    expect(reported()).toEqual([0, 0, 0]);
    lease.stop();
  });

  test('is renewed at the next interval if a report fails', async () => {
    const { lease, publish, reported } = leaseOf(120);
    publish.mockRejectedValueOnce(new Error('The broker is unavailable'));
    lease.progress(0.5);
    await jest.advanceTimersByTimeAsync(4000);
    expect(reported()).toEqual([0.5, 0.5]);
    lease.stop();
  });

  test('has one report at a time', async () => {
    const { lease, publish } = leaseOf(4);
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    publish.mockReturnValueOnce(confirmed);
    await jest.advanceTimersByTimeAsync(5000);
    expect(publish).toHaveBeenCalledTimes(1);
    confirm();
    await jest.advanceTimersByTimeAsync(1000);
    expect(publish).toHaveBeenCalledTimes(2);
    lease.stop();
  });

  test('is checked every five seconds, and the attempt aborts when it is no longer current', async () => {
    const { lease, isAttemptCurrent } = leaseOf(120);
    await jest.advanceTimersByTimeAsync(5000);
    expect(isAttemptCurrent).toHaveBeenCalledWith({ videoId: 'vid_1', attempt: 2 });
    isAttemptCurrent.mockRejectedValueOnce(new Error('The control plane is unavailable'));
    await jest.advanceTimersByTimeAsync(5000);
    expect(lease.signal.aborted).toBe(false);
    isAttemptCurrent.mockResolvedValueOnce(false);
    await jest.advanceTimersByTimeAsync(5000);
    expect(lease.signal.reason).toBeInstanceOf(AttemptObsoleteError);
    expect(isAttemptCurrent).toHaveBeenCalledTimes(3);
    lease.stop();
  });

  test('is neither renewed nor checked after a stop', async () => {
    const { lease, publish, isAttemptCurrent } = leaseOf(4);
    lease.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(publish).not.toHaveBeenCalled();
    expect(isAttemptCurrent).not.toHaveBeenCalled();
  });
});
