import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';
import { currentProcess, whileAlive } from './simulated-process.ts';

/** The functions of the real time, for the simulation itself. */
export const realTime = { setImmediate, setTimeout, clearTimeout, now: performance.now.bind(performance) };

/** Time that passes only when nothing else can happen. */
export type VirtualTime = {
  /** Milliseconds since the start. */
  now(): number;
  /** The time by the clock of the machine, in milliseconds since 1970. */
  epochMs(): number;
  /** Fires the next timer. Returns false if there is none. */
  next(): boolean;
  /** Resolves after virtual milliseconds, in the context of the caller. */
  sleep(milliseconds: number): Promise<void>;
};

/** The time at the start of every run. */
const START = Date.UTC(2027, 0, 4, 8);

/** Replaces the clocks and timers of this Node process. Import the code under test afterwards. */
export function installVirtualTime(): VirtualTime {
  const clock = FakeTimers.install({
    now: START,
    toFake: [
      'Date',
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'performance',
    ],
  });
  const sleep = timersPromises.setTimeout;
  keepProcesses();
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    setTimeout(() => controller.abort(error), milliseconds);
    return controller.signal;
  };
  syncBuiltinESMExports();
  return {
    now: () => clock.now - START,
    epochMs: () => clock.now,
    next: () => {
      if (clock.countTimers() === 0) return false;
      clock.next();
      return true;
    },
    sleep: (milliseconds) => sleep(milliseconds),
  };
}

/** Timers fire in the context of the process that has set them, and not at all if it was killed. */
function keepProcesses(): void {
  type Callback = (...values: unknown[]) => void;
  const inProcess = (callback: Callback): Callback => {
    const process = currentProcess();
    if (process === undefined) return callback;
    return (...values) => {
      if (process.isAlive) process.run(() => callback(...values));
    };
  };
  const { setTimeout, setInterval, setImmediate } = globalThis;
  globalThis.setTimeout = ((callback: Callback, milliseconds?: number, ...values: unknown[]) =>
    setTimeout(inProcess(callback), milliseconds, ...values)) as typeof globalThis.setTimeout;
  globalThis.setInterval = ((callback: Callback, milliseconds?: number, ...values: unknown[]) =>
    setInterval(inProcess(callback), milliseconds, ...values)) as typeof globalThis.setInterval;
  globalThis.setImmediate = ((callback: Callback, ...values: unknown[]) =>
    setImmediate(inProcess(callback), ...values)) as unknown as typeof globalThis.setImmediate;
  const delay = timersPromises.setTimeout;
  timersPromises.setTimeout = ((...args: Parameters<typeof delay>) =>
    whileAlive(delay(...args))) as typeof delay;
  const turn = timersPromises.setImmediate;
  timersPromises.setImmediate = ((...args: Parameters<typeof turn>) =>
    whileAlive(turn(...args))) as typeof turn;
}
