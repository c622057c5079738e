import { execFile } from 'node:child_process';
import { access, rename } from 'node:fs/promises';
import { promisify } from 'node:util';

const SECONDS = '6';

/** Creates a short test video with a tone, for the example in the banner, unless it exists. */
export async function makeSampleVideo(path: string): Promise<void> {
  if (
    await access(path).then(
      () => true,
      () => false,
    )
  )
    return;
  const unfinished = `${path}.new`;
  await promisify(execFile)('ffmpeg', [
    ...['-nostdin', '-v', 'error', '-y'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=854x480:rate=25', '-f', 'lavfi', '-i', 'sine=frequency=440'],
    ...['-t', SECONDS, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
    ...['-f', 'mp4', unfinished],
  ]);
  await rename(unfinished, path);
}
