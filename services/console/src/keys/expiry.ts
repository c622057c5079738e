/** The choices for how long a key is valid, in days. */
export const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

const DAY_MS = 86_400_000;

/** `expiresAt` of a new key; null if it does not expire. `now` is a Unix time in milliseconds. */
export function expiresAt(days: string, now: number): string | null {
  return days === '' ? null : new Date(now + Number(days) * DAY_MS).toISOString();
}
