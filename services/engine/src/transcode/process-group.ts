import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';

/** How long a process may take to end when it is asked to. */
const GRACE_MS = 2000;

/** Of crashes, of the limits on a process, and of a kernel out of memory. */
const DEADLY = ['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGXCPU', 'SIGSYS'] as const;
/** What bubblewrap exits with when a signal ended what ran in it. ffmpeg's own codes, up to 255, are none of these. */
const DEADLY_CODES: readonly number[] = DEADLY.map((signal) => 128 + constants.signals[signal]);

/** Whether a signal ended a confined process. `exitCode` is null when that is plain to see. */
export function wasKilled(exitCode: number | null): boolean {
  return exitCode === null || DEADLY_CODES.includes(exitCode);
}

/**
 * Ends a confined process and everything it started: asks first, forces after two seconds. Confined processes lead
 * their own group (see confinement.ts). Returns at once; the process emits `close` when it is gone.
 */
export function stopProcess(child: ChildProcess): void {
  const force = () => signalGroup(child, 'SIGKILL');
  const timer = setTimeout(force, GRACE_MS);
  child.once('exit', () => {
    clearTimeout(timer);
    force();
  });
  signalGroup(child, 'SIGTERM');
  // A process that is held takes no notice otherwise.
  signalGroup(child, 'SIGCONT');
}

/** Sends a signal to a confined process and everything it started. One that is gone gets none. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    // No such group: it is gone, or so young that it does not lead one yet.
    child.kill(signal);
  }
}
