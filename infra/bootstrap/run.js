import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program in the foreground and forwards stop signals to it. Resolves with its exit code: 128 + the signal's
 * number if a signal killed it, 127 if it cannot be run. Its standard output goes to `stdout`.
 */
export function run(command, args, env = process.env, stdout = process.stdout) {
  return new Promise((resolve) => {
    // Before the spawn: a signal in between would end this process and leave the program running.
    const forward = (signal) => child.kill(signal);
    for (const signal of STOP_SIGNALS) process.on(signal, forward);
    const child = spawn(command, args, { stdio: ['inherit', stdout, 'inherit'], env });
    const finish = (code) => {
      for (const signal of STOP_SIGNALS) process.off(signal, forward);
      resolve(code);
    };
    child.on('error', () => finish(127));
    child.on('exit', (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}

/** Runs one step of the bootstrap. If a stop signal arrives during the step, the bootstrap exits after it. */
export async function runStep(command, args, env = process.env, stdout = process.stdout) {
  let stopped;
  const onSignal = (signal) => {
    stopped = signal;
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const code = await run(command, args, env, stdout);
  for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
  if (stopped !== undefined) process.exit(128 + constants.signals[stopped]);
  return code;
}
