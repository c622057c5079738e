import { setTimeout } from 'node:timers/promises';
import { ApiError, type FramelaneClient, FramelaneError, type Schemas } from '@framelane/client';

const POLL_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export type Event = Schemas['Event'];

/** Where to begin: with the next event, or with those since a time. */
export type Start = { from: 'now' } | { since: string };

type Follow = {
  start: Start;
  signal: AbortSignal;
  /** Called once the server has accepted the first request. */
  onReady?: () => void;
  /** Called when a request has failed that will be repeated. */
  onTrouble?: (error: unknown) => void;
};

/** Yields each event once, in order, until the signal aborts. Goes on after interruptions; throws if the server refuses the request. */
export async function* followEvents(client: FramelaneClient, follow: Follow): AsyncGenerator<Event, void> {
  const { start, signal, onReady, onTrouble } = follow;
  let position: { from?: 'now'; since?: string; cursor?: string } = start;
  for (let failures = 0; ; ) {
    try {
      const page = await client.events.list({ ...position, limit: 100 }, { signal });
      if (position.cursor === undefined) onReady?.();
      failures = 0;
      yield* page.data;
      position = { cursor: page.nextCursor };
      if (page.hasMore) continue;
    } catch (error) {
      if (signal.aborted) return;
      if (!isTemporary(error)) throw error;
      failures += 1;
      onTrouble?.(error);
    }
    const pauseMs = Math.min(POLL_MS * 2 ** failures, LONGEST_PAUSE_MS);
    // The rejection says that the signal has aborted.
    await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
}

/** Whether a later request can succeed: without a response, and after an error of the server. */
function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof FramelaneError;
}
