import type { CaptionsFormat } from '@framelane/captions/read-captions';
import { QueueFullError } from '@framelane/service-kit/fair-slots';
import { Problem } from '@framelane/service-kit/problem';
import { ThreadTimeoutError, WorkerThreads } from '@framelane/service-kit/worker-threads';
import { rateLimited } from '../rate-limits/window-counter.ts';
import type { ReadChapters, ReadResult } from './captions-functions.ts';
import type { StoredCues } from './stored-cues.ts';

type Functions = typeof import('./captions-functions.ts');

/** The largest file takes about a second. */
const TIMEOUT_MS = 30_000;

const FUNCTIONS = import.meta.resolve('@framelane/control-plane/captions/captions-functions');

/** Files of clients with captions or chapters, in turn by workspace. Those that wait are in memory: at most 128 MiB. */
const ofClients = new WorkerThreads<Functions>(FUNCTIONS, {
  threads: 1,
  maxWaiting: 64,
  timeoutMs: TIMEOUT_MS,
});

/** Text tracks, in turn by workspace. The events of engines limit how many wait: each reads one track at a time. */
const ofTracks = new WorkerThreads<Functions>(FUNCTIONS, {
  threads: 1,
  maxWaiting: Number.POSITIVE_INFINITY,
  timeoutMs: TIMEOUT_MS,
});

/**
 * Reads the file of a client in a thread. Throws 400 `invalid_captions`, also if this takes too long, and 429 `rate_limited` if too many
 * files of the workspace wait.
 */
export async function readFile(
  workspaceId: string,
  request: { file: Uint8Array; format: CaptionsFormat; duration: number | null },
): Promise<StoredCues> {
  try {
    const { cues, error } = await withTimeLimit(ofClients.run(workspaceId, 'read', request));
    if (error === undefined) return cues;
    throw new Problem('invalid_captions', error.message, { extra: { line: error.line } });
  } catch (error) {
    throw queueProblem(error);
  }
}

/** The error of a full queue as a problem; any other as it is. */
function queueProblem(error: unknown): unknown {
  if (!(error instanceof QueueFullError)) return error;
  return rateLimited('Too many files of this workspace wait to be read. Send fewer at a time.', 5);
}

/**
 * Reads a WebVTT file with chapters in a thread, in turn with captions. Throws 400 `invalid_chapters`, also if this takes too long, and 429
 * `rate_limited` if too many files of the workspace wait.
 */
export async function readChaptersFile(
  workspaceId: string,
  request: { file: Uint8Array; duration: number | null },
): Promise<NonNullable<ReadChapters['chapters']>> {
  try {
    const { chapters, error } = await withTimeLimit(ofClients.run(workspaceId, 'readChapters', request));
    if (error === undefined) return chapters;
    throw new Problem('invalid_chapters', error.message, { extra: { line: error.line } });
  } catch (error) {
    throw queueProblem(error);
  }
}

/** Reads a text track of a video in a thread. */
export function readTrack(workspaceId: string, webvtt: string): Promise<ReadResult> {
  return withTimeLimit(ofTracks.run(workspaceId, 'read', { file: webvtt, format: 'webvtt', duration: null }));
}

/** Cuts captions of a video for a clip, in a thread (see `cut`). Throws 429 `rate_limited` if too many files of the workspace wait. */
export async function cutCaptions(
  workspaceId: string,
  request: { blocks: string; from: number; to: number },
): Promise<StoredCues | null> {
  try {
    return await ofClients.run(workspaceId, 'cut', request);
  } catch (error) {
    throw queueProblem(error);
  }
}

/** What reading a file gives if it takes too long. */
type TooSlow = { cues?: undefined; chapters?: undefined; error: { message: string; line: null } };

async function withTimeLimit<T>(result: Promise<T>): Promise<T | TooSlow> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof ThreadTimeoutError)) throw error;
    const message = `The file cannot be read: this takes more than ${TIMEOUT_MS / 1000} seconds. Send a smaller or simpler file.`;
    return { error: { message, line: null } };
  }
}
