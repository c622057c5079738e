import type { Readable } from 'node:stream';

/** What commands use of the process: tests and other programs give their own. */
export type Host = {
  env: Readonly<Record<string, string | undefined>>;
  stdin: Readable & { isTTY?: boolean };
  /** Writes to standard output: results. */
  write(text: string): void;
  /** Writes to standard error: progress, questions and errors. */
  writeError(text: string): void;
  /** Whether a person watches standard error, so that a line can be written over. */
  isTerminal: boolean;
  /** Columns of the terminal, when they are asked for. */
  columns(): number;
  /** Aborted by Ctrl-C and by SIGTERM: a command ends cleanly. */
  signal: AbortSignal;
};
