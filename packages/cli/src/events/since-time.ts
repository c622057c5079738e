import { InvalidArgumentError } from 'commander';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Reads a time, or how long ago it was, such as `15m`, `2h` or `1d`. */
export function sinceTime(text: string, now = Date.now()): string {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const time =
    amount === undefined
      ? new Date(text)
      : new Date(now - Number(amount) * SECONDS[unit as keyof typeof SECONDS] * 1000);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError(
      'Use a time such as 2026-11-01T09:00:00Z, or how long ago it was, such as 15m, 2h or 1d.',
    );
  return time.toISOString();
}
