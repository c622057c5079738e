import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from '../cli-error.ts';
import type { Host } from '../host.ts';

/** Asks for one line on standard input, without showing it. From a pipe it reads the first line. */
export async function readSecret(question: string, { stdin, writeError, signal }: Host): Promise<string> {
  const terminal = stdin.isTTY === true;
  if (terminal) writeError(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal });
  // In raw mode Ctrl-C is only a character.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const close = () => lines.close();
  signal.addEventListener('abort', close);
  try {
    for await (const line of lines) return line.trim();
    signal.throwIfAborted();
    throw new CliError('Nothing came on standard input.');
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
    if (terminal) writeError('\n');
  }
}
