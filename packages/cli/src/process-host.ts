import type { Host } from './host.ts';

/** Exit codes of a program that a signal ended, as shells report them. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** The process as the host. `end` sets the exit code: a signal that has ended the command decides it. */
export function processHost(): Host & { end(exitCode: number): void } {
  const controller = new AbortController();
  let signalled: number | undefined;
  for (const [name, code] of Object.entries(SIGNALS)) {
    process.on(name, () => {
      // The second one does not wait for a clean end.
      if (signalled !== undefined) process.exit(code);
      signalled = code;
      controller.abort();
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      // The reader, such as `head`, has closed the pipe: nobody reads the rest.
      process.exit(0);
    });
  }
  return {
    env: process.env,
    stdin: process.stdin,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    columns: () => process.stderr.columns ?? 80,
    signal: controller.signal,
    end: (exitCode) => {
      process.exitCode = signalled ?? exitCode;
    },
  };
}
