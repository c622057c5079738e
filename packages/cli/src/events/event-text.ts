import { terminalText } from '../terminal/terminal-text.ts';
import type { Event } from './follow-events.ts';

/** An event on one line: when, what, and the title of the video. */
export function eventText({ timestamp, type, id, data }: Event): string {
  const subject = 'title' in data ? `${data.id}  ${terminalText(data.title)}` : '';
  return `${timestamp}  ${type.padEnd(21)}  ${id}  ${subject}`.trimEnd();
}
