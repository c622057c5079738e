import type { components } from '@framelane/openapi/types';
import type { AttemptOutcome, AttemptRow, VideoRow } from '../db/schema.ts';

export type TimelineEntry = components['schemas']['TimelineEntry'];

/** The numbers of tasks of an open attempt. */
export type TaskCounts = components['schemas']['TaskCounts'];

const OUTCOMES: Readonly<Record<AttemptOutcome, components['schemas']['TimelineAttempt']['outcome']>> = {
  completed: 'completed',
  failed: 'failed',
  lease_expired: 'engine_lost',
  handed_back: 'handed_back',
};

/** What has happened to a video, oldest first. `attempts` are by increasing number; `tasks` are those of the open one. */
export function timelineOf(
  video: VideoRow,
  attempts: readonly AttemptRow[],
  tasks: TaskCounts | undefined,
): TimelineEntry[] {
  const waiting = attempts.find(({ started_at, outcome }) => started_at === null && outcome === null);
  return [
    ...entry('created', video.created_at),
    ...entry('uploaded', video.uploaded_at),
    ...attempts.flatMap((attempt) => entry('attempt', attempt.started_at, toAttempt(attempt, tasks))),
    ...video.retried_at.flatMap((at) => entry('retried', at)),
    ...entry('waiting', waiting?.due_at ?? null),
    ...entry('ready', video.ready_at),
    ...entry('failed', video.failed_at),
    ...entry('source_deleted', video.source_deleted_at),
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function entry(
  type: TimelineEntry['type'],
  at: Date | null,
  attempt: TimelineEntry['attempt'] = null,
): TimelineEntry[] {
  return at === null ? [] : [{ type, at: at.toISOString(), attempt }];
}

function toAttempt(
  { number, outcome, finished_at: endedAt }: AttemptRow,
  tasks: TaskCounts | undefined,
): TimelineEntry['attempt'] {
  return {
    number,
    outcome: outcome === null ? 'running' : OUTCOMES[outcome],
    endedAt: endedAt?.toISOString() ?? null,
    tasks: (outcome === null && tasks) || null,
  };
}
