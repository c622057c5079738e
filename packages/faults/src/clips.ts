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
  /** One that keeps an engine busy for some seconds, whatever the machine. */
  long: string;
  remove(): Promise<void>;
};

export async function makeClips(): Promise<Clips> {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-faults-clips-'));
  const make = async (name: string, options: ClipOptions) => {
    const path = join(directory, name);
    await makeClip(path, options);
    return path;
  };
  return {
    short: await make('short.avi', { size: '426x240', seconds: 2 }),
    long: await make('long.avi', { size: '1280x720', seconds: 12 }),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

type ClipOptions = {
  size: string;
  seconds: number;
  /** From 1, the best and largest, to 31. */
  quality?: number;
};

/** Makes a moving test picture with a tone. */
export async function makeClip(path: string, { size, seconds, quality = 3 }: ClipOptions): Promise<void> {
  await run('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=24:duration=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`],
    // Not what a rendition may be, so that it is encoded.
    ...['-c:v', 'mpeg4', '-q:v', String(quality), '-c:a', 'libmp3lame', '-shortest', path],
  ]);
}
