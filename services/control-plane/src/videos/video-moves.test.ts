import { describe, expect, test } from '@jest/globals';
import type { VideoStatus } from '../db/schema.ts';
import {
  afterFailedTry,
  type Effect,
  failureOfExpiry,
  MOVES,
  type MoveName,
  moveFrom,
} from './video-moves.ts';

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

  test('every move to processing begins an attempt; no other move does', () => {
    expect(movesWith('begin-attempt')).toEqual(['beginProcessing', 'nextAttempt', 'retry']);
  });

  test('a move that ends an attempt closes it; a deletion deletes it', () => {
    expect(movesWith('close-attempt')).toEqual(['nextAttempt', 'complete', 'fail']);
  });

  test('every final status has a purge and an event', () => {
    const ends = Object.values(MOVES).filter(({ to }) => to !== 'processing');
    expect(ends.map(({ effects }) => [...effects])).toEqual([
      ['close-attempt', 'keep-source', 'purge', 'video.ready'],
      [
        'close-attempt',
        'keep-source',
        'end-import',
        'purge',
        'video.failed',
        'video.download.failed',
        'video.codec.failed',
      ],
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

describe('afterFailedTry', () => {
  test.each([
    ['permanent', 0, 'fail'],
    ['transient', 0, { delaySeconds: 10, failedTries: 1 }],
    ['transient', 1, { delaySeconds: 20, failedTries: 2 }],
    ['transient', 2, 'fail'],
    ['unreported', 0, { delaySeconds: 10, failedTries: 0 }],
    ['unreported', 2, { delaySeconds: 40, failedTries: 2 }],
    ['handed_back', 2, { delaySeconds: 0, failedTries: 2 }],
  ] as const)('%s after %i failed tries', (failure, failedBefore, expected) => {
    expect(afterFailedTry(failure, failedBefore, 10)).toEqual(expected);
  });
});
