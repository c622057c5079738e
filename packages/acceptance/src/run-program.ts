import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The listing of all packets of a long rendition is a few megabytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;
const LIMIT_MS = 60_000;

/**
 * Runs a program, with `env` added to our environment, and resolves with what it wrote. Rejects, with its own words,
 * when it fails or takes more than a minute.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ stdout: string; stderr: string }> {
  return execute(program, args, {
    env: { ...process.env, ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: LIMIT_MS,
  });
}
