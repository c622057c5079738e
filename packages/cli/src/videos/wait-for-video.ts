import type { ReadyVideo, Video } from '@framelane/client';
import type { Session } from '../run-command.ts';
import { ProgressLine } from '../terminal/progress-line.ts';

/** The retries of each poll, which take a minute: as long as a restart of the server may take. */
const RETRIES = 6;

/** Waits until a video can be played, with its progress. Throws the error of a video that fails. */
export async function waitForVideo(
  id: string,
  { client, output, host }: Pick<Session, 'client' | 'output' | 'host'>,
): Promise<ReadyVideo> {
  const line = new ProgressLine(host, output);
  const onProgress = ({ status, progress, title }: Video) =>
    line.show(`${title}: ${status}, ${progress} %`, { id, status, progress });
  try {
    return await client.videos.waitUntilReady(id, { signal: host.signal, retries: RETRIES, onProgress });
  } finally {
    line.clear();
  }
}
