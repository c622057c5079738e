import { Problem } from '@framelane/service-kit/problem';

/** Limits hold for this long, in seconds. */
export const WINDOW_SECONDS = 60;

/** The answer to somebody who asks too often. */
export function rateLimited(detail: string, secondsLeft: number): Problem {
  return new Problem('rate_limited', `${detail} Retry in ${secondsLeft} s.`, {
    headers: { 'Retry-After': String(secondsLeft) },
  });
}
