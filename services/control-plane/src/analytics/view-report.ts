import { hash } from 'node:crypto';
import type { RequestedSegment } from './segment-times.ts';
import type { Device } from './viewer-facts.ts';
import type { WatchedRange } from './watched-parts.ts';

/** Why playback stopped. The names sort by what is worse. */
export type PlaybackError = 'interrupted' | 'unsupported';

/** What is known of one playback. All of it only grows, so reports unite in any order, and a repeated report changes nothing. */
export type ViewReport = {
  /** The day in UTC on which it arrived. */
  day: string;
  workspaceId: string;
  videoId: string;
  /** A UUID. */
  sessionId: string;
  visitor: Buffer;
  device: Device;
  country: string | null;
  watched: WatchedRange[];
  /** Segments that its player has requested with client data. */
  segments: RequestedSegment[];
  watchMs: number | null;
  startupMs: number | null;
  stalls: number;
  stallMs: number;
  error: PlaybackError | null;
};

/** What identifies a playback: two players that choose the same session id for different videos are two. */
export type Playback = Pick<ViewReport, 'workspaceId' | 'videoId' | 'sessionId'>;

export function nameOf({ workspaceId, videoId, sessionId }: Playback): string {
  return `${workspaceId} ${videoId} ${sessionId}`;
}

/** The UUID of a session whose player has chosen this text: a hash, so that a text with a meaning is not stored. */
export function sessionIdOf(text: string): string {
  const hex = hash('sha256', text, 'hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-');
}

/** All that two reports of one playback say. The day, the viewer, the device and the country are those of the first. */
export function unite(first: ViewReport, second: ViewReport): ViewReport {
  return {
    ...first,
    watched: [...first.watched, ...second.watched],
    segments: [...first.segments, ...second.segments],
    watchMs: larger(first.watchMs, second.watchMs),
    startupMs: larger(first.startupMs, second.startupMs),
    stalls: Math.max(first.stalls, second.stalls),
    stallMs: Math.max(first.stallMs, second.stallMs),
    error: worse(first.error, second.error),
  };
}

function larger(first: number | null, second: number | null): number | null {
  return first === null || second === null ? (first ?? second) : Math.max(first, second);
}

function worse(first: PlaybackError | null, second: PlaybackError | null): PlaybackError | null {
  return (first ?? '') > (second ?? '') ? first : second;
}
