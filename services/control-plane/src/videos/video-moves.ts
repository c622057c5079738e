import type { VideoStatus } from '../db/schema.ts';

/** What follows from a move, in its transaction. */
export type Effect =
  /** The open attempt ends, if there is one. */
  | 'close-attempt'
  /** The deletion of the source is scheduled. A source that is not kept is deleted at once. */
  | 'keep-source'
  /** A transcode command becomes due. */
  | 'command'
  /** The import of the file ends, if there is one: its URL and headers are erased. */
  | 'end-import'
  /** Objects that the video does not need in its new status are purged. */
  | 'purge'
  /** The endpoints of the workspace get the event. */
  | 'video.ready'
  | 'video.failed'
  | 'video.deleted';

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
  beginProcessing: { from: ['uploading'], to: 'processing', effects: ['end-import', 'command'] },
  beginAttempt: { from: ['processing'], to: 'processing', effects: [] },
  nextAttempt: { from: ['processing'], to: 'processing', effects: ['close-attempt', 'command'] },
  complete: {
    from: ['processing'],
    to: 'ready',
    effects: ['close-attempt', 'keep-source', 'purge', 'video.ready'],
  },
  fail: {
    from: ['uploading', 'processing'],
    to: 'failed',
    effects: ['close-attempt', 'keep-source', 'end-import', 'purge', 'video.failed'],
  },
  retry: { from: ['failed'], to: 'processing', effects: ['command'] },
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

/** Failed attempts after which a video fails. */
const MAX_FAILED_ATTEMPTS = 3;

/**
 * Why an attempt ended without a result: there was a fault, or its lease expired before its engine had reported anything, or it was handed
 * back, for example by an engine that stops. Another attempt may avoid a transient fault, but not a permanent one.
 */
export type AttemptFailure = 'permanent' | 'transient' | 'unreported' | 'handed_back';

/** Leases in a row that may expire before their engine has reported anything, without counting as failures. */
const MAX_UNREPORTED = 3;

/**
 * How an attempt failed whose lease has expired. If its engine has not reported anything, the claim was lost, not the work. But an engine may
 * die each time that it begins this work, so only the first claims in a row do not count.
 *
 * @param unreported how many engines in a row have reported nothing after their claim, this one included; 0 if the engine has reported something
 */
export function failureOfExpiry(unreported: number): AttemptFailure {
  return unreported >= 1 && unreported <= MAX_UNREPORTED ? 'unreported' : 'transient';
}

/**
 * Which move follows a failed attempt. A transient failure is retried with doubling delays until the attempts are used up. After
 * an attempt without a report, the delay is the same, but the attempt does not count. An attempt that was handed back does not count and is
 * followed by the next one at once.
 */
export function moveAfterFailure(
  failure: AttemptFailure,
  failedBefore: number,
  backoffSeconds: number,
): { move: 'fail' } | { move: 'nextAttempt'; delaySeconds: number; failedAttempts: number } {
  const delaySeconds = failure === 'handed_back' ? 0 : backoffSeconds * 2 ** failedBefore;
  if (failure === 'handed_back' || failure === 'unreported')
    return { move: 'nextAttempt', delaySeconds, failedAttempts: failedBefore };
  const failedAttempts = failedBefore + 1;
  if (failure === 'permanent' || failedAttempts >= MAX_FAILED_ATTEMPTS) return { move: 'fail' };
  return { move: 'nextAttempt', delaySeconds, failedAttempts };
}
