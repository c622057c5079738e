const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A size in bytes, rounded to two or three digits, e.g. `7.3 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** A duration in seconds as on a player, e.g. `1:02:03`. */
export function formatDuration(seconds: number): string {
  const total = Math.round(seconds);
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60)];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

/** A time span in seconds in its largest unit, rounded up. */
export function formatTimeLeft(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.ceil(seconds / 3600)} h`;
}

/** How long ago a time was, e.g. `3 hours ago`. `now` is a Unix time in milliseconds. */
export function formatAge(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  const words = new Intl.RelativeTimeFormat('en');
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return words.format(-Math.floor(seconds / 60), 'minute');
  if (seconds < 86_400) return words.format(-Math.floor(seconds / 3600), 'hour');
  if (seconds < 30 * 86_400) return words.format(-Math.floor(seconds / 86_400), 'day');
  return formatDay(time);
}

/** A time to the second, in the form and the zone of the browser. */
export function formatTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** A day in the form and the zone of the browser. */
export function formatDay(time: string): string {
  return new Date(time).toLocaleDateString(undefined, { dateStyle: 'medium' });
}

/** The time of day to the second, in the form and the zone of the browser. */
export function formatClock(time: string): string {
  return new Date(time).toLocaleTimeString(undefined, { timeStyle: 'medium' });
}
