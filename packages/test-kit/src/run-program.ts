import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** ffprobe lists the packets of a long rendition in a few megabytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;
/** A program that takes seconds takes minutes on a busy machine. */
const TIMEOUT_MS = 150_000;

/**
 * Runs a program and resolves with its output. `env` extends the environment of this process. Rejects with the
 * output when the program fails or hangs.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, cwd }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(program, args, {
    env: { ...process.env, ...env },
    cwd,
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: TIMEOUT_MS,
  });
}
