import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs ffmpeg for what `makeClip` cannot express. It has no time limit, as benchmarks make long files. */
export async function ffmpeg(...args: string[]): Promise<void> {
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}
