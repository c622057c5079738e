import type { components } from '@framelane/openapi/types';
import type { AttemptOutcome, AttemptRow, VideoRow } from '../db/schema.ts';

export type TimelineEntry = components['schemas']['TimelineEntry'];

/** An attempt, with the number of its tasks if it is open and has any. */
export type AttemptWithTasks = AttemptRow & { tasks: components['schemas']['TimelineTasks'] | null };

const OUTCOMES: Readonly<Record<AttemptOutcome, components['schemas']['TimelineAttempt']['outcome']>> = {
  completed: 'completed',
  failed: 'failed',
  lease_expired: 'engine_lost',
  handed_back: 'handed_back',
};

/** What has happened to a video, oldest first. `attempts` are by increasing number. */
export function timelineOf(video: VideoRow, attempts: readonly AttemptWithTasks[]): TimelineEntry[] {
  const isWaiting = video.status === 'processing' && attempts.every(({ outcome }) => outcome !== null);
  return [
    ...entry('created', video.created_at),
    ...entry('uploaded', video.uploaded_at),
    ...attempts.flatMap((attempt) => entry('attempt', attempt.started_at, toAttempt(attempt))),
    ...video.retried_at.flatMap((at) => entry('retried', at)),
    ...entry('waiting', isWaiting ? video.waiting_since : null),
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

function toAttempt({
  number,
  outcome,
  finished_at: endedAt,
  tasks,
}: AttemptWithTasks): TimelineEntry['attempt'] {
  return {
    number,
    outcome: outcome === null ? 'running' : OUTCOMES[outcome],
    endedAt: endedAt?.toISOString() ?? null,
    tasks,
  };
}
