import { describe, expect, test } from '@jest/globals';
import type { VideoStatus } from '../db/schema.ts';
import { MOVES, type MoveName, moveAfterFailure, moveFrom } from './video-moves.ts';

const STATUSES: VideoStatus[] = ['uploading', 'processing', 'ready', 'failed'];

describe('moveFrom', () => {
  test.each<[MoveName, Partial<Record<VideoStatus, string>>]>([
    ['beginProcessing', { uploading: 'processing' }],
    ['nextAttempt', { processing: 'processing' }],
    ['complete', { processing: 'ready' }],
    ['fail', { uploading: 'failed', processing: 'failed' }],
    ['retry', { failed: 'processing' }],
    ['delete', { uploading: 'tombstone', processing: 'tombstone', ready: 'tombstone', failed: 'tombstone' }],
  ])('%s', (name, expected) => {
    const targets = STATUSES.map((status) => [status, moveFrom(status, name)?.to]);
    expect(Object.fromEntries(targets.filter(([, to]) => to !== undefined))).toEqual(expected);
  });

  test('a command becomes due with every move to processing, and with no other', () => {
    for (const { to, effects } of Object.values(MOVES)) {
      expect((effects as readonly string[]).includes('command')).toBe(to === 'processing');
    }
  });

  test('every final status has a purge and an event', () => {
    const ends = Object.values(MOVES).filter(({ to }) => to !== 'processing');
    expect(ends.map(({ effects }) => [...effects])).toEqual([
      ['purge', 'video.ready'],
      ['end-import', 'purge', 'video.failed'],
      ['purge', 'video.deleted'],
    ]);
  });
});

describe('moveAfterFailure', () => {
  test.each([
    ['permanent', 0, { move: 'fail' }],
    ['transient', 0, { move: 'nextAttempt', delaySeconds: 10, failedAttempts: 1 }],
    ['transient', 1, { move: 'nextAttempt', delaySeconds: 20, failedAttempts: 2 }],
    ['transient', 2, { move: 'fail' }],
    ['handed_back', 2, { move: 'nextAttempt', delaySeconds: 0, failedAttempts: 2 }],
  ] as const)('%s after %i failed attempts', (failure, failedBefore, expected) => {
    expect(moveAfterFailure(failure, failedBefore, 10)).toEqual(expected);
  });
});
