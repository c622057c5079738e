import { describe, expect, test } from '@jest/globals';
import type { VideoStatus } from '../db/schema.ts';
import {
  type Effect,
  failureOfExpiry,
  MOVES,
  type MoveName,
  moveAfterFailure,
  moveFrom,
} from './video-moves.ts';

const STATUSES: VideoStatus[] = ['uploading', 'processing', 'ready', 'failed'];

describe('moveFrom', () => {
  test.each<[MoveName, Partial<Record<VideoStatus, string>>]>([
    ['beginProcessing', { uploading: 'processing' }],
    ['beginAttempt', { processing: 'processing' }],
    ['nextAttempt', { processing: 'processing' }],
    ['complete', { processing: 'ready' }],
    ['fail', { uploading: 'failed', processing: 'failed' }],
    ['retry', { failed: 'processing' }],
    ['delete', { uploading: 'tombstone', processing: 'tombstone', ready: 'tombstone', failed: 'tombstone' }],
  ])('%s', (name, expected) => {
    const targets = STATUSES.map((status) => [status, moveFrom(status, name)?.to]);
    expect(Object.fromEntries(targets.filter(([, to]) => to !== undefined))).toEqual(expected);
  });

  test('every move to processing except beginAttempt makes a command due; no other move does', () => {
    expect(movesWith('command')).toEqual(['beginProcessing', 'nextAttempt', 'retry']);
  });

  test('a move that ends an attempt closes it; a deletion deletes it', () => {
    expect(movesWith('close-attempt')).toEqual(['nextAttempt', 'complete', 'fail']);
  });

  test('every final status has a purge and an event', () => {
    const ends = Object.values(MOVES).filter(({ to }) => to !== 'processing');
    expect(ends.map(({ effects }) => [...effects])).toEqual([
      ['close-attempt', 'keep-source', 'purge', 'video.ready'],
      ['close-attempt', 'keep-source', 'end-import', 'purge', 'video.failed'],
      ['purge', 'video.deleted'],
    ]);
  });
});

function movesWith(effect: Effect): string[] {
  return Object.entries(MOVES)
    .filter(([, { effects }]) => (effects as readonly Effect[]).includes(effect))
    .map(([name]) => name);
}

test.each([
  [0, 'transient'],
  [1, 'unreported'],
  [3, 'unreported'],
  [4, 'transient'],
])(
  'a lease that expires after %i claims in a row without a report of their engines',
  (unreported, failure) => {
    expect(failureOfExpiry(unreported)).toBe(failure);
  },
);

describe('moveAfterFailure', () => {
  test.each([
    ['permanent', 0, { move: 'fail' }],
    ['transient', 0, { move: 'nextAttempt', delaySeconds: 10, failedAttempts: 1 }],
    ['transient', 1, { move: 'nextAttempt', delaySeconds: 20, failedAttempts: 2 }],
    ['transient', 2, { move: 'fail' }],
    ['unreported', 0, { move: 'nextAttempt', delaySeconds: 10, failedAttempts: 0 }],
    ['unreported', 2, { move: 'nextAttempt', delaySeconds: 40, failedAttempts: 2 }],
    ['handed_back', 2, { move: 'nextAttempt', delaySeconds: 0, failedAttempts: 2 }],
  ] as const)('%s after %i failed attempts', (failure, failedBefore, expected) => {
    expect(moveAfterFailure(failure, failedBefore, 10)).toEqual(expected);
  });
});
