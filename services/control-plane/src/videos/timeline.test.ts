import { describe, expect, test } from '@jest/globals';
import type { AttemptOutcome, AttemptRow, VideoRow } from '../db/schema.ts';
import { timelineOf } from './timeline.ts';

/** The nth minute of a day. */
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

/** A video that was created in minute 0, and nothing else has happened to it. */
function video(changes: Partial<VideoRow> = {}): VideoRow {
  return {
    status: 'processing',
    created_at: at(0),
    uploaded_at: null,
    retried_at: [],
    ready_at: null,
    failed_at: null,
    source_deleted_at: null,
    ...changes,
  } as VideoRow;
}

/** An attempt that starts in the minute of its number, and ends 30 seconds later. */
function attempt(number: number, outcome: AttemptOutcome | null): AttemptRow {
  const startedAt = at(number);
  const finishedAt = outcome === null ? null : new Date(startedAt.getTime() + 30_000);
  return { number, outcome, started_at: startedAt, finished_at: finishedAt } as AttemptRow;
}

/** An attempt that has waited for an engine since the fifth minute. */
const waitingAttempt = (number: number) =>
  ({ number, outcome: null, due_at: at(5), started_at: null, finished_at: null }) as AttemptRow;

const TASKS = { total: 9, completed: 2, running: 3 };

describe('the timeline of a video', () => {
  test('has only what has happened', () => {
    expect(timelineOf(video({ status: 'uploading' }), [], undefined)).toEqual([
      { type: 'created', at: '2026-01-01T00:00:00.000Z', attempt: null },
    ]);
  });

  test('has every entry, oldest first', () => {
    const failed = video({
      status: 'failed',
      uploaded_at: at(1),
      retried_at: [at(4), at(6)],
      failed_at: at(8),
      source_deleted_at: at(9),
    });
    const attempts = [2, 3, 5, 7].map((number) => attempt(number, 'failed'));
    const timeline = timelineOf(failed, attempts, undefined);
    expect(timeline.map(({ type }) => type)).toEqual([
      ...['created', 'uploaded', 'attempt', 'attempt', 'retried', 'attempt', 'retried', 'attempt'],
      ...['failed', 'source_deleted'],
    ]);
    expect(timeline.map((entry) => entry.at)).toEqual(
      Array.from({ length: 10 }, (_, minute) => at(minute).toISOString()),
    );
    expect(timeline.map((entry) => entry.attempt?.number ?? null)).toEqual([
      ...[null, null, 2, 3, null, 5, null, 7, null, null],
    ]);
  });

  test('has the time at which the video became ready', () => {
    const ready = timelineOf(video({ status: 'ready', ready_at: at(3) }), [], undefined);
    expect(ready.at(-1)).toEqual({ type: 'ready', at: at(3).toISOString(), attempt: null });
  });

  test.each<[string, AttemptRow[], string[]]>([
    ['for the first attempt', [waitingAttempt(1)], ['waiting']],
    ['for the next attempt', [attempt(1, 'failed'), waitingAttempt(2)], ['attempt', 'waiting']],
    ['not during an attempt', [attempt(1, 'failed'), attempt(2, null)], ['attempt', 'attempt']],
    ['not after the last attempt', [attempt(1, 'completed')], ['attempt']],
    ['not for an attempt that ended before it started', [{ ...waitingAttempt(1), outcome: 'failed' }], []],
  ])('says whether the video waits: %s', (_, attempts, types) => {
    const [, ...entries] = timelineOf(video(), attempts, undefined);
    expect(entries.map(({ type }) => type)).toEqual(types);
    const waiting = { type: 'waiting', at: at(5).toISOString(), attempt: null };
    if (types.includes('waiting')) expect(entries).toContainEqual(waiting);
  });
});

describe('the entry of an attempt', () => {
  const entryOf = (outcome: AttemptOutcome | null, tasks: typeof TASKS | undefined) =>
    timelineOf(video(), [attempt(1, outcome)], tasks).at(-1)?.attempt;

  test.each([
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['lease_expired', 'engine_lost'],
    ['handed_back', 'handed_back'],
  ] as const)('with the stored outcome %s has the outcome %s', (stored, outcome) => {
    expect(entryOf(stored, TASKS)).toEqual({
      number: 1,
      outcome,
      endedAt: '2026-01-01T00:01:30.000Z',
      tasks: null,
    });
  });

  test.each([
    ['with tasks', TASKS, TASKS],
    ['without tasks', undefined, null],
  ])('that runs %s has no end', (_, tasks, expected) => {
    expect(entryOf(null, tasks)).toEqual({ number: 1, outcome: 'running', endedAt: null, tasks: expected });
  });
});
