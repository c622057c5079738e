import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program in the foreground, hands stop signals on to it and resolves with its exit code: 128 + the signal's
 * number when it was killed, 127 when it cannot be run. What it prints goes to `stdout`, ours or `process.stderr`.
 */
export function run(command, args, env = process.env, stdout = process.stdout) {
  return new Promise((resolve) => {
    // Listened for before the program can begin: a signal in between would end us and leave it behind.
    const handOn = (signal) => child.kill(signal);
    for (const signal of STOP_SIGNALS) process.on(signal, handOn);
    const child = spawn(command, args, { stdio: ['inherit', stdout, 'inherit'], env });
    const finish = (code) => {
      for (const signal of STOP_SIGNALS) process.off(signal, handOn);
      resolve(code);
    };
    child.on('error', () => finish(127));
    child.on('exit', (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}

/** Runs one step of the bootstrap. When it was stopped from outside, so is the bootstrap. */
export async function runStep(command, args, env = process.env, stdout = process.stdout) {
  let stopped;
  const remember = (signal) => {
    stopped = signal;
  };
  for (const signal of STOP_SIGNALS) process.on(signal, remember);
  const code = await run(command, args, env, stdout);
  for (const signal of STOP_SIGNALS) process.off(signal, remember);
  if (stopped !== undefined) process.exit(128 + constants.signals[stopped]);
  return code;
}
