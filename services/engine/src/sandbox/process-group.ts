import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;

/** Signals of crashes, of resource limits, and of the kernel when it is out of memory. */
const FATAL_SIGNALS = [
  'SIGKILL',
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
  'SIGXCPU',
  'SIGSYS',
] as const;
/**
 * bubblewrap's exit codes when a signal ended its program. From version 7 on, ffmpeg exits with its negative error number modulo 256,
 * which can equal one of these codes: for a full disk quota it is 134, as after SIGABRT. So check the error message before the code.
 */
const FATAL_CODES: readonly number[] = FATAL_SIGNALS.map((signal) => 128 + constants.signals[signal]);

/** Whether a signal ended a confined process. `exitCode` is null if the signal ended the process that Node started. */
export function wasKilled(exitCode: number | null): boolean {
  return exitCode === null || FATAL_CODES.includes(exitCode);
}

/** Whether SIGKILL ended a confined process. If the engine did not send it, the kernel was out of memory. */
export function gotSigkill(exitCode: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGKILL' || exitCode === 128 + constants.signals.SIGKILL;
}

/**
 * Ends the process group of a confined process when the process itself ends. Call it right after the start.
 *
 * The kernel may reuse the id of a group whose processes have all ended. So the group gets its last signal as soon as its leader
 * exits: Linux assigns process ids in turn, and does not reuse one that soon. Only a sandbox prevents a process from leaving the
 * group. A process that has left may hold the pipes open, so they are closed after a while, and `close` is always emitted.
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

/** Calls `onTooLong` and stops reading when a confined process prints a line of more than `maxLength` characters. */
export function limitLines(child: ChildProcess, maxLength: number, onTooLong: () => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let length = 0;
    stream?.on('data', (text: string | Buffer) => {
      const end = text.lastIndexOf('\n');
      length = end === -1 ? length + text.length : text.length - end - 1;
      if (length <= maxLength) return;
      stream.destroy();
      onTooLong();
    });
  }
}

/**
 * Ends a confined process and everything it started: SIGTERM first, SIGKILL after two seconds. A confined process leads its
 * own group (see launch-script.ts), which ends with it (see `endGroupWithLeader`). Returns at once. The process emits
 * `close` when it has ended.
 */
export function stopProcess(child: ChildProcess): void {
  if (hasExited(child)) return;
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS);
  child.once('exit', () => clearTimeout(timer));
  signalGroup(child, 'SIGTERM');
  // A stopped process handles the signal only when it continues.
  signalGroup(child, 'SIGCONT');
}

/** Sends a signal to a confined process and everything it started, unless it has ended. */
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
    // The group has ended, or the new process does not lead it yet.
    if (!hasExited(child)) child.kill(signal);
  }
}
