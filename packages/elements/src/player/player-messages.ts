/** The names and the version of the player.js conventions, which the page in the frame follows. See docs/embed.md. */
const CONTEXT = 'player.js';
const VERSION = '0.0.11';

/** The times of a video, in seconds. */
export type PlayerTime = { seconds: number; duration: number };

/** What the page in the frame can do. `src` is its URL. */
export type PlayerAbilities = { src: string; events: string[]; methods: string[] };

/** Why a video does not play. `code` is -1 if it cannot be played, and 2 if the page knows no such method. */
export type PlayerFailure = { code: number; msg: string };

/** What the page in the frame says. */
export type FrameMessage =
  | { type: 'event'; name: string; value: unknown }
  | { type: 'response'; value: unknown; listener: string }
  | { type: 'token-expired' };

/** The events for which the page sends messages only after a request. */
export const REQUESTED_EVENTS = ['play', 'pause', 'ended', 'timeupdate', 'progress', 'error'] as const;

/** Other names are ignored: an event such as `click` would seem to be one of the user. */
const EVENTS: readonly string[] = ['ready', ...REQUESTED_EVENTS];

/** The request to call a method. `listener` identifies its response. */
export function methodMessage(method: string, value?: unknown, listener?: string): string {
  return JSON.stringify({ context: CONTEXT, version: VERSION, method, value, listener });
}

/** Reads a message of the frame; undefined if it is of no interest. */
export function readMessage(data: unknown): FrameMessage | undefined {
  const message = parse(data);
  if (message?.event === 'framelane:tokenExpired') return { type: 'token-expired' };
  if (message?.context !== CONTEXT || typeof message.event !== 'string') return undefined;
  const { event: name, value, listener } = message;
  if (typeof listener === 'string') return { type: 'response', value, listener };
  return EVENTS.includes(name) ? { type: 'event', name, value } : undefined;
}

function parse(data: unknown): Record<string, unknown> | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
