/** What is wrong with a text that is no time. */
export const UNREADABLE_TIME = 'Write a time such as 1:02.5.';

/** Seconds of a text such as `62.5`, `1:02.5` or `1:00:02`; undefined if it is none. */
export function parseTypedTime(text: string): number | undefined {
  const match = /^(?:(?:(\d{1,3}):)?(\d{1,5}):)?(\d{1,6}(?:[.,]\d{1,9})?)$/.exec(text.trim());
  if (match === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = ''] = match;
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'));
  return Math.round(total * 1000) / 1000;
}

/** A time with the milliseconds that it has, e.g. `1:02.5`. */
export function formatTypedTime(seconds: number): string {
  const total = Math.round(seconds * 1000);
  const whole = Math.floor(total / 1000);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = total % 1000 === 0 ? '' : String((total % 1000) / 1000).slice(1);
  const beginning = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${beginning}:${two(whole % 60)}${fraction}`;
}
