import { setTimeout as pause } from 'node:timers/promises';

/** The pause between two checks grows: a long wait must not take processor time from what it waits for. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/** Shorter than a test may take, so that the error names what did not happen. */
const TIMEOUT_SECONDS = 120;

type Options = {
  /** Names the condition in the error; its source by default. */
  what?: string;
  seconds?: number;
  /** Adds details to the error. */
  details?: () => string;
  /** The pause between two checks does not grow beyond this. */
  longestPauseMs?: number;
};

type Falsy = undefined | null | false | 0 | '';

/** Repeats a check until it returns something truthy, and resolves with that. Throws when the time limit passes. */
export async function until<T>(
  check: () => T | Promise<T>,
  {
    what = String(check),
    seconds = TIMEOUT_SECONDS,
    details = () => '',
    longestPauseMs = LONGEST_PAUSE_MS,
  }: Options = {},
): Promise<Exclude<T, Falsy>> {
  const deadline = performance.now() + seconds * 1000;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(1.3 * pauseMs, longestPauseMs)) {
    const found = await check();
    if (found) return found as Exclude<T, Falsy>;
    if (performance.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}. ${details()}`);
    await pause(pauseMs);
  }
}
