import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** A free port on this machine. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/**
 * Starts a program that serves at `url`, and waits until it responds. Its output goes to the file `log`: a pipe that nobody reads while another
 * program runs would stop it. Resolves with a function that stops it.
 */
export async function startServer(command, args, { url, env, log }) {
  const output = openSync(log, 'w');
  const child = spawn(command, args, { env, stdio: ['ignore', output, output] });
  closeSync(output);
  const ended = once(child, 'close').then(() => {
    throw new Error(`${command} has ended:\n${readFileSync(log, 'utf8').slice(-2000)}`);
  });
  ended.catch(() => {});
  const stop = async () => {
    child.kill();
    await ended.catch(() => {});
  };
  try {
    await Promise.race([responds(url), ended]);
  } catch (error) {
    if (child.exitCode === null) await stop();
    throw error;
  }
  return stop;
}

async function responds(url) {
  const limit = AbortSignal.timeout(120_000);
  for (;;) {
    limit.throwIfAborted();
    const response = await fetch(url, { signal: limit }).catch(() => undefined);
    if (response !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
