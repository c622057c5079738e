import type { LogFormat } from '@framelane/service-kit/logger';
import { terminalJson, terminalText } from '@framelane/service-kit/terminal-text';
import winston from 'winston';

type Event = winston.Logform.TransformableInfo;

/** What winston's transports write. */
const LINE = Symbol.for('message');

/** Progress is told each time it passes another of these, in percent. */
const PROGRESS_STEP = 10;

/** Fields that are told in words, or need no telling. */
const NOT_LISTED = new Set(['level', 'message', 'service', 'advice', 'detail', 'error', 'cause']);

/**
 * Log events as a person at the terminal wants them: what happens to their videos, and whatever goes wrong. All else
 * is left out. Links to finished videos begin with `baseUrl`.
 */
export function terminalFormat(baseUrl: string): LogFormat {
  const videos = new Map<unknown, { title: unknown; step: number }>();
  const label = ({ videoId, title }: Event) => title ?? videos.get(videoId)?.title ?? videoId;

  const describe = (event: Event): string | undefined => {
    // winston appends a field called `message` to the name of the event.
    const [name = '', ...reason] = String(event.message).split(' ');
    switch (name) {
      case 'video.uploaded':
        videos.set(event.videoId, { title: event.title, step: 0 });
        return `↑ ${label(event)}: received, ${megabytes(event.bytes)}`;
      case 'video.progress':
        return passesStep(event) ? `… ${label(event)}: ${event.percent} %` : undefined;
      case 'video.ready':
        return `✓ ${label(event)}: ready${elapsed(event.seconds)}\n${INDENT}${baseUrl}/hls/${event.workspaceId}/${event.videoId}/master.m3u8`;
      case 'video.failed':
        return `✗ ${label(event)}: failed, ${event.code}. ${event.reason ?? reason.join(' ')}`;
      case 'video.deleted':
        return `− ${label(event)}: deleted`;
      case 'webhook.delivery_failed':
        return `! ${event.host} did not take ${event.eventType}: ${failure(event)}; ${nextAttempt(event.retryInSeconds)}`;
      case 'webhook.disabled':
        return `! Webhook ${event.webhookId} is disabled: ${DISABLED_BECAUSE[String(event.reason)] ?? event.reason}`;
      case 'ffmpeg.outdated':
        return `! ffmpeg ${event.version} is out of date. ${event.advice}`;
      case 'single-node.stopping':
        return 'Stopping … (Ctrl-C again to stop at once)';
      case 'single-node.stopped':
        return 'Stopped.';
      default:
        return isTrouble(event) ? trouble(event) : undefined;
    }
  };

  const passesStep = ({ videoId, title, percent }: Event): boolean => {
    const video = videos.get(videoId) ?? { title, step: 0 };
    const step = Math.floor(Number(percent) / PROGRESS_STEP);
    if (step <= video.step) return false;
    videos.set(videoId, { ...video, step });
    return true;
  };

  const format = winston.format((event) => {
    const line = describe(withSafeTexts(event));
    if (/^video\.(ready|failed|deleted)\b/.test(String(event.message))) videos.delete(event.videoId);
    return line === undefined ? false : { ...event, [LINE]: `${clock()}  ${line}` };
  });
  return format();
}

/** Titles and other texts from outside cannot move the cursor or forge a line. */
function withSafeTexts(event: Event): Event {
  const texts = Object.entries(event).filter(([, value]) => typeof value === 'string');
  return { ...event, ...Object.fromEntries(texts.map(([key, text]) => [key, terminalText(String(text))])) };
}

const DISABLED_BECAUSE: Record<string, string> = {
  gone: 'its receiver says that it is gone',
  failing: 'it has failed for days',
};

/** As wide as the clock and the two spaces behind it. */
const INDENT = ' '.repeat(10);

function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}

function megabytes(bytes: unknown): string {
  const value = Number(bytes) / 1e6;
  return `${value.toFixed(value < 10 ? 1 : 0)} MB`;
}

function elapsed(seconds: unknown): string {
  return typeof seconds === 'number' ? ` in ${seconds.toFixed(1)} s` : '';
}

/** Why a receiver did not take an event. */
function failure({ responseStatus, failure }: Event): string {
  return responseStatus == null ? String(failure).replaceAll('_', ' ') : `it answered ${responseStatus}`;
}

function nextAttempt(seconds: unknown): string {
  return typeof seconds === 'number' ? `next attempt in ${pause(seconds)}` : 'given up';
}

function pause(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return seconds < 100 * 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function isTrouble({ level }: Event): boolean {
  return level === 'warn' || level === 'error';
}

/** A warning or error: the event, the words that came with it, then its other facts. */
function trouble(event: Event): string {
  const words = [event.advice, event.detail, errorText(event)].filter((text) => text !== undefined);
  const facts = Object.entries(event)
    .filter(([key, value]) => !NOT_LISTED.has(key) && value != null)
    .map(
      ([key, value]) => `${key}=${typeof value === 'object' ? terminalJson(JSON.stringify(value)) : value}`,
    );
  return [`! ${event.message}`, ...words, ...facts].join('  ');
}

/** An error with its trace where that helps to find a fault of ours, else in one line. */
function errorText({ level, error, cause }: Event): string | undefined {
  const { message, stack } = (error ?? cause ?? {}) as { message?: string; stack?: string };
  const text = level === 'error' ? (stack ?? message) : message;
  return text?.split('\n').map(terminalText).join('\n');
}
