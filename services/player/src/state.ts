import { pagePath } from './page-path.ts';
import { waitBefore } from './recovery.ts';

/** The URLs of a video that can be played, and the attempt that encodes or has encoded its segments. */
export type Source = {
  hls: string;
  attempt?: number;
  /** Whether the stream is sound alone. */
  audioOnly?: boolean;
  poster: string | null;
  storyboard: string | null;
  chapters: string | null;
};

/** The state of the video, as far as viewers may know it. See `EmbedState` of the contract; a problem has the `code` of the contract. */
export type State =
  | { status: 'preparing'; progress: number; hls?: string; attempt?: number; audioOnly?: boolean }
  | { status: 'failed'; audioOnly?: boolean }
  | ({ status: 'ready' } & Source)
  | { status: 'waiting' }
  | { status: 'refused'; code: string }
  | { status: 'offline' };

/** Milliseconds between two requests until the video can be played, and until it is ready. */
const POLL_UNTIL_PLAYABLE_MS = 1000;
const POLL_UNTIL_READY_MS = 2000;

/** After this many milliseconds without a response, a request counts as failed. */
const TIMEOUT_MS = 20_000;

/** The message of the page in a state; empty for a video that plays. */
export function wordsFor(state: State): string {
  switch (state.status) {
    case 'preparing':
      if (state.hls !== undefined) return '';
      return `This ${nounFor(state)} is being prepared: ${state.progress} %. It appears here when it can be played.`;
    case 'failed':
      return `This ${nounFor(state)} could not be prepared.`;
    case 'waiting':
      return 'This part is being prepared. Playback continues when it is ready.';
    case 'offline':
      return 'No connection. Playback continues when it is back.';
    case 'refused':
      return REFUSALS[state.code] ?? 'The video cannot be shown at the moment. Try again later.';
    case 'ready':
      return '';
  }
}

/** The message above a video that plays before it is ready. */
export function previewWords(state: State): string {
  if (state.status !== 'preparing' || state.hls === undefined) return '';
  return `This ${nounFor(state)} is being prepared: ${state.progress} %`;
}

function nounFor({ audioOnly = false }: { audioOnly?: boolean }): string {
  return audioOnly ? 'recording' : 'video';
}

/** The source of a video; undefined unless it can be played. A video that is being prepared has no images and no chapters yet. */
export function sourceOf(state: State): Source | undefined {
  if (state.status === 'ready') return state;
  if (state.status !== 'preparing' || state.hls === undefined) return undefined;
  const { hls, attempt, audioOnly } = state;
  const known = { ...(attempt !== undefined && { attempt }), ...(audioOnly && { audioOnly }) };
  return { hls, ...known, poster: null, storyboard: null, chapters: null };
}

const REFUSALS: Record<string, string> = {
  video_not_found: 'This video does not exist or was deleted.',
  playback_token_required: 'This video needs a link with a playback token.',
  playback_token_invalid: 'This link is not valid for this video. Ask for a new one.',
  playback_token_expired: 'This link has expired. Ask for a new one.',
};

/** Asks for the state. Never throws. */
export async function fetchState(page: Pick<URL, 'pathname'>, token: string | undefined): Promise<State> {
  const query = token === undefined ? '' : `?${new URLSearchParams({ token })}`;
  try {
    const response = await fetch(`${pagePath(page)}/state${query}`, {
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = await response.json();
    if (response.ok) return body;
    // A service that is restarting is not a reason to give up.
    return response.status >= 500
      ? { status: 'offline' }
      : { status: 'refused', code: String(body.code ?? '') };
  } catch {
    return { status: 'offline' };
  }
}

/** How long to wait before the state is asked for again, in milliseconds; undefined for a state that stays. */
export function pollAfter(state: State, failures: number): number | undefined {
  if (state.status === 'preparing')
    return state.hls === undefined ? POLL_UNTIL_PLAYABLE_MS : POLL_UNTIL_READY_MS;
  return state.status === 'offline' ? waitBefore(failures) : undefined;
}
