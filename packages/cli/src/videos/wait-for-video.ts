import type { ReadyVideo, Video } from '@framelane/client';
import type { Session } from '../run-command.ts';
import { ProgressLine } from '../terminal/progress-line.ts';

/** Waits until a video can be played, with its progress. Throws the error of a video that fails. */
export async function waitForVideo(id: string, { client, output, host }: Session): Promise<ReadyVideo> {
  const line = new ProgressLine(host);
  let shown = '';
  const onProgress = (video: Video) => {
    const { status, progress, title } = video;
    const state = `${status} ${progress}`;
    if (state === shown) return;
    shown = state;
    if (output.json) output.event({ type: 'progress', id, status, progress }, () => '');
    else line.show(`${title}: ${status}, ${progress} %`);
  };
  try {
    return await client.videos.waitUntilReady(id, { signal: host.signal, onProgress });
  } finally {
    line.clear();
  }
}
