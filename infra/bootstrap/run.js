import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The programs that run. */
const running = new Set();

/** The steps that run, and the stop signal that has arrived during them. */
const steps = { running: 0, stopped: undefined };

/**
 * Runs a program in the foreground and forwards stop signals to it. Resolves with its exit code: 128 + the signal's
 * number if a signal killed it, 127 if it cannot be run. Its standard output goes to `stdout`; with `onLine`, that
 * function receives each line of both outputs instead.
 */
export function run(command, args, { env = process.env, stdout = process.stdout, onLine } = {}) {
  return new Promise((resolve) => {
    // Before the spawn: a signal in between would end this process and leave the program running.
    if (running.size === 0) for (const signal of STOP_SIGNALS) process.on(signal, forward);
    const stdio = onLine ? ['inherit', 'pipe', 'pipe'] : ['inherit', stdout, 'inherit'];
    const child = spawn(command, args, { stdio, env });
    running.add(child);
    if (onLine) {
      for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
    }
    const finish = (code) => {
      running.delete(child);
      if (running.size === 0) for (const signal of STOP_SIGNALS) process.off(signal, forward);
      resolve(code);
    };
    child.on('error', ({ code, message }) => {
      console.error(code === 'ENOENT' ? `${command} is not installed.` : message);
      finish(127);
    });
    child.on('close', (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}

/**
 * Runs a program as one step of this process, such as the bootstrap or `npm test`. After a stop signal no step starts any more, and
 * this process exits when the running ones have ended.
 */
export async function runStep(command, args, options) {
  // Another step has been stopped and is about to end: nothing starts any more.
  if (steps.stopped !== undefined) return new Promise(() => {});
  if (steps.running === 0) for (const signal of STOP_SIGNALS) process.on(signal, onStop);
  steps.running += 1;
  const code = await run(command, args, options);
  steps.running -= 1;
  if (steps.running === 0) for (const signal of STOP_SIGNALS) process.off(signal, onStop);
  if (steps.stopped === undefined) return code;
  if (steps.running === 0) process.exit(128 + constants.signals[steps.stopped]);
  // The last step to end exits.
  return new Promise(() => {});
}

function forward(signal) {
  for (const program of running) program.kill(signal);
}

function onStop(signal) {
  steps.stopped = signal;
}
