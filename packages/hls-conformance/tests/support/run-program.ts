import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program and resolves with its output. Rejects with its own words when it fails. */
export async function runProgram(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}
