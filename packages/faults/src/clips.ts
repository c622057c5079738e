import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files to upload, in a directory of their own. */
export type Clips = {
  /** Two seconds of picture and sound: transcoded at once. */
  short: string;
  /** Noise that keeps an engine busy for some seconds, whatever the machine. */
  long: string;
  remove(): Promise<void>;
};

export async function makeClips(): Promise<Clips> {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-faults-clips-'));
  const make = async (name: string, size: string, seconds: number) => {
    const path = join(directory, name);
    await run('ffmpeg', [
      ...['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=24:duration=${seconds}`],
      ...['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`],
      // Not what a rendition may be, so that it is encoded.
      ...['-c:v', 'mpeg4', '-q:v', '3', '-c:a', 'libmp3lame', '-shortest', path],
    ]);
    return path;
  };
  return {
    short: await make('short.avi', '426x240', 2),
    long: await make('long.avi', '1280x720', 20),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
