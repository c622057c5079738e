import type { VideoStatus } from '../db/schema.ts';

/** What follows from a move, in its transaction. */
export type Effect =
  /** The open attempt ends, if there is one. */
  | 'close-attempt'
  /** The deletion of the source is scheduled. A source that is not kept is deleted at once. */
  | 'keep-source'
  /** An attempt begins, which waits for an engine. */
  | 'begin-attempt'
  /** The import of the file ends, if there is one: its URL and headers are erased. */
  | 'end-import'
  /** Objects that the video does not need in its new status are purged. */
  | 'purge'
  /** The endpoints of the workspace get the event. */
  | 'video.ready'
  | 'video.failed'
  | 'video.deleted'
  /** The endpoints get the event for each download that was asked for: it fails with its video. */
  | 'video.download.failed'
  /** The same for each codec beside H.264. */
  | 'video.codec.failed';

/**
 * The statuses a move begins in, the one it leads to, and its effects, in order. The tombstone of a deleted video keeps its last
 * status.
 */
export type Move = {
  from: readonly VideoStatus[];
  to: VideoStatus | 'tombstone';
  effects: readonly Effect[];
};

/**
 * Every move a video can make. Anything else changes no row. Only `retry` and `delete` lead out of `failed`, so a late report of
 * an engine changes nothing. Nothing leads out of a tombstone.
 */
export const MOVES = {
  beginProcessing: { from: ['uploading'], to: 'processing', effects: ['end-import', 'begin-attempt'] },
  nextAttempt: { from: ['processing'], to: 'processing', effects: ['close-attempt', 'begin-attempt'] },
  complete: {
    from: ['processing'],
    to: 'ready',
    effects: ['close-attempt', 'keep-source', 'purge', 'video.ready'],
  },
  fail: {
    from: ['uploading', 'processing'],
    to: 'failed',
    effects: [
      'close-attempt',
      'keep-source',
      'end-import',
      'purge',
      'video.failed',
      'video.download.failed',
      'video.codec.failed',
    ],
  },
  retry: { from: ['failed'], to: 'processing', effects: ['begin-attempt'] },
  delete: {
    from: ['uploading', 'processing', 'ready', 'failed'],
    to: 'tombstone',
    effects: ['purge', 'video.deleted'],
  },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;

/** The move, or undefined when it does not begin in this status. */
export function moveFrom(status: VideoStatus, name: MoveName): Move | undefined {
  const move: Move = MOVES[name];
  return move.from.includes(status) ? move : undefined;
}

/** Failed tries after which a video fails. */
const MAX_FAILED_TRIES = 3;

/** Leases in a row that may expire before their engine has reported anything, without counting as failures. */
const MAX_UNREPORTED = 3;

/**
 * Why a try ended without a result. Another try may avoid a transient fault, but not a permanent one. If the lease expired before the engine
 * had reported anything, the claim was lost, not the work: `unreported`. Work is handed back, for example, by an engine that stops.
 */
export type TryFailure = 'permanent' | 'transient' | 'unreported' | 'handed_back';

/** How often a task has failed, and how many tries in a row have ended without any report of their engine. */
export type TryCounts = { failedTries: number; unreportedTries: number };

/** When the next attempt begins, and the counts that its first task takes over from the one before. */
export type NextAttempt = TryCounts & { delaySeconds: number };

/**
 * How a try failed whose lease has expired. An engine may die each time that it begins this work, so only the first claims in a row without
 * a report do not count.
 *
 * @param unreported how many engines in a row have reported nothing after their claim, this one included; 0 if the engine has reported something
 */
export function failureOfExpiry(unreported: number): TryFailure {
  return unreported >= 1 && unreported <= MAX_UNREPORTED ? 'unreported' : 'transient';
}

/**
 * What follows a failed try. A transient failure is retried with doubling delays until the tries are used up. After a try without a report,
 * the delay is the same, but the try does not count. A try that was handed back does not count and is followed by the next one at once.
 *
 * @param failedBefore failed tries before this one
 * @param backoffSeconds the delay after the first failure
 */
export function afterFailedTry(
  failure: TryFailure,
  failedBefore: number,
  backoffSeconds: number,
): 'fail' | { delaySeconds: number; failedTries: number } {
  const delaySeconds = failure === 'handed_back' ? 0 : backoffSeconds * 2 ** failedBefore;
  if (failure === 'handed_back' || failure === 'unreported')
    return { delaySeconds, failedTries: failedBefore };
  const failedTries = failedBefore + 1;
  if (failure === 'permanent' || failedTries >= MAX_FAILED_TRIES) return 'fail';
  return { delaySeconds, failedTries };
}
