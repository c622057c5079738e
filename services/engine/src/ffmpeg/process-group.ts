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

/** Whether it was SIGKILL that ended a confined process. Unless the engine sent it, that is the kernel out of memory. */
export function wasForced(exitCode: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGKILL' || exitCode === 128 + constants.signals.SIGKILL;
}

/** Characters a confined process may print without an end of line: more than ffprobe may print of a file at all. */
const LONGEST_LINE = 1024 ** 2;

/**
 * Has the group of a confined process end with it. Call it at once when the process was started.
 *
 * The id of a group may be given to another once its last process is gone and waited for, so no signal is sent after the
 * exit of the leader: only at that very moment, before anything else can be started. What left the group (which only a
 * sandbox prevents) may hold the pipes open; after a while they are closed here, so that `close` comes in any case.
 */
export function endGroupWithLeader(child: ChildProcess): void {
  child.once('exit', () => {
    sendToGroup(child, 'SIGKILL');
    const timer = setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, GRACE_MS);
    child.once('close', () => clearTimeout(timer));
  });
}

/** Calls back once when a confined process prints a line longer than any of ours, and reads no more of it. */
export function limitLines(child: ChildProcess, onTooLong: () => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let length = 0;
    stream?.on('data', (text: string | Buffer) => {
      const end = text.lastIndexOf('\n');
      length = end === -1 ? length + text.length : text.length - end - 1;
      if (length <= LONGEST_LINE) return;
      stream.destroy();
      onTooLong();
    });
  }
}

/**
 * Ends a confined process and everything it started: asks first, forces after two seconds. Confined processes lead
 * their own group (see launch-script.ts), which ends with them (see `endGroupWithLeader`). Returns at once; the process
 * emits `close` when it is gone.
 */
export function stopProcess(child: ChildProcess): void {
  if (hasExited(child)) return;
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS);
  child.once('exit', () => clearTimeout(timer));
  signalGroup(child, 'SIGTERM');
  // A process that is held takes no notice otherwise.
  signalGroup(child, 'SIGCONT');
}

/** Sends a signal to a confined process and everything it started. One that is gone gets none. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (!hasExited(child)) sendToGroup(child, signal);
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function sendToGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    // No such group: it is gone, or so young that it does not lead one yet.
    if (!hasExited(child)) child.kill(signal);
  }
}
