import type { LogFormat } from '@framelane/service-kit/logger';
import { terminalJson, terminalText } from '@framelane/service-kit/terminal-text';
import winston from 'winston';

type Event = winston.Logform.TransformableInfo;

/** The key of the line that winston's transports write. */
const LINE = Symbol.for('message');

/** Progress is shown in steps of this many percent. */
const PROGRESS_STEP = 10;

/** Fields that are not appended as `key=value`. */
const NOT_LISTED = new Set([
  'level',
  'message',
  'service',
  'advice',
  'detail',
  'error',
  'cause',
  'trace_id',
  'span_id',
]);

/**
 * Formats log events for a person at a terminal: the progress of videos, warnings and errors. All other events are
 * dropped. `baseUrl` is the URL of the API, e.g. `http://localhost:8080/v1`: links to finished videos start with it.
 */
export function terminalFormat(baseUrl: string): LogFormat {
  /** The last step shown of each video. */
  const steps = new Map<unknown, number>();

  const describe = (event: Event): string | undefined => {
    switch (event.message) {
      case 'video.uploaded':
        return `↑ ${event.title}: received, ${megabytes(event.bytes)}`;
      case 'video.progress':
        return passesStep(event) ? `… ${event.title}: ${event.percent} %` : undefined;
      case 'video.preview_offered':
        return `▸ ${event.title}: preview available: ${(event.variants as string[]).join(', ')}`;
      case 'video.ready':
        return `✓ ${event.title}: ready${elapsed(event.seconds)}\n${INDENT}${baseUrl}/hls/${event.workspaceId}/${event.videoId}/master.m3u8`;
      case 'video.failed':
        return `✗ ${event.title}: failed, ${event.code}. ${event.reason}`;
      case 'video.deleted':
        return `− ${event.title}: deleted`;
      case 'webhook.delivery_failed':
        return `! Webhook ${event.eventType} to ${event.host} failed: ${failure(event)}; ${nextAttempt(event.retryInSeconds)}`;
      case 'webhook.disabled':
        return `! Webhook endpoint ${event.webhookId} is disabled: ${DISABLED_BECAUSE[String(event.reason)] ?? event.reason}`;
      case 'ffmpeg.outdated':
        return `! ffmpeg ${event.version} is out of date. ${event.advice}`;
      case 'single-node.stopping':
        return 'Stopping … (Ctrl-C again to stop at once)';
      case 'single-node.stopped':
        return 'Stopped.';
      default:
        return isWarningOrError(event) ? warningOrError(event) : undefined;
    }
  };

  const passesStep = ({ videoId, percent }: Event): boolean => {
    const step = Math.floor(Number(percent) / PROGRESS_STEP);
    if (step <= (steps.get(videoId) ?? 0)) return false;
    steps.set(videoId, step);
    return true;
  };

  const format = winston.format((event) => {
    const line = describe(withSafeTexts(event));
    if (/^video\.(ready|failed|deleted)$/.test(String(event.message))) steps.delete(event.videoId);
    return line === undefined ? false : { ...event, [LINE]: `${clock()}  ${line}` };
  });
  return format();
}

/** Escapes titles and other untrusted texts, so that they cannot move the cursor or forge a line. */
function withSafeTexts(event: Event): Event {
  const texts = Object.entries(event).filter(([, value]) => typeof value === 'string');
  return { ...event, ...Object.fromEntries(texts.map(([key, text]) => [key, terminalText(String(text))])) };
}

const DISABLED_BECAUSE: Record<string, string> = {
  gone: 'it responded with 410 Gone',
  failing: 'its deliveries have failed for days',
};

/** As wide as the clock and the two spaces after it. */
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

/** Why a delivery failed. */
function failure({ responseStatus, failure }: Event): string {
  return responseStatus == null ? String(failure).replaceAll('_', ' ') : `status ${responseStatus}`;
}

function nextAttempt(seconds: unknown): string {
  return typeof seconds === 'number' ? `next attempt in ${duration(seconds)}` : 'no further attempt';
}

function duration(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return seconds < 100 * 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function isWarningOrError({ level }: Event): boolean {
  return level === 'warn' || level === 'error';
}

/** A warning or error: the event's name, its advice, detail and error, then its other fields. */
function warningOrError(event: Event): string {
  const texts = [event.advice, event.detail, errorText(event)].filter((text) => text !== undefined);
  const fields = Object.entries(event)
    .filter(([key, value]) => !NOT_LISTED.has(key) && value != null)
    .map(
      ([key, value]) => `${key}=${typeof value === 'object' ? terminalJson(JSON.stringify(value)) : value}`,
    );
  return [`! ${event.message}`, ...texts, ...fields].join('  ');
}

/** The stack of the error, if the event has the level error. A warning shows only the message of its error. */
function errorText({ level, error, cause }: Event): string | undefined {
  const { message, stack } = (error ?? cause ?? {}) as { message?: string; stack?: string };
  const text = level === 'error' ? (stack ?? message) : message;
  return text?.split('\n').map(terminalText).join('\n');
}
