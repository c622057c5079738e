import { randomBytes } from 'node:crypto';
import { BackupError } from './backup-errors.ts';

/** The id of a backup is the time at which it began, and its timeline: ids sort by age. */
const ID = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z-[0-9a-f]{16}$/;

/** The last time whose year has four digits. */
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A new id, such as `20261129T170500000Z-0a1b2c3d4e5f6071`. It sorts after the `latest` one of the place, also if the clock is behind or was ahead: otherwise, the
 * latest backup would not be the last one.
 */
export function newBackupId(now: Date, timeline: string, latest?: string): string {
  const earliest = latest === undefined ? 0 : (timeOf(latest) ?? 0) + 1;
  const time = new Date(Math.max(now.getTime(), earliest));
  if (time.getTime() > LAST) {
    throw new BackupError(
      `The backup ${latest} has the last possible time. Remove it from the place, and correct the clock.`,
    );
  }
  return `${time.toISOString().replaceAll(/[-:.]/g, '')}-${timeline}`;
}

/** Whether this is the id of a backup. */
export function isBackupId(text: string): boolean {
  return timeOf(text) !== undefined;
}

/** The timeline of a backup. */
export function timelineOf(id: string): string {
  return id.slice(id.lastIndexOf('-') + 1);
}

/** The id of a new timeline. */
export function newTimeline(): string {
  return randomBytes(8).toString('hex');
}

function timeOf(id: string): number | undefined {
  if (!ID.test(id)) return undefined;
  const time = Date.parse(id.replace(ID, '$1-$2-$3T$4:$5:$6.$7Z'));
  return Number.isNaN(time) ? undefined : time;
}
