import { ApiError, type Schemas, type Video } from '@framelane/client';
import { poll } from '../library/http/poll.ts';
import { pause } from '../library/http/retrying.ts';
import type { ExportContext } from './export-video.ts';

/** A rendition that can be fetched, or why it cannot. `remove` deletes it again if it was not there before. */
type Prepared = { url: string; remove: () => Promise<void> } | { problem: string };

/** Asks for a file of a rendition if there is none, and waits until it is ready. */
export async function prepareRendition(
  { id, downloads }: Pick<Video, 'id' | 'downloads'>,
  file: Schemas['DownloadName'],
  { client, signal }: Pick<ExportContext, 'client' | 'signal'>,
): Promise<Prepared> {
  const before = downloads.find((one) => one.file === file);
  const isNew = before === undefined || before.status === 'failed';
  if (isNew) {
    const problem = await client.downloads.create(id, [file], { signal }).then(() => undefined, unavailable);
    if (problem !== undefined) return { problem };
  }
  const { settled } = await poll({ pause, signal }, 'The installation prepares the file', async () => {
    const found = (await client.downloads.list(id, { signal })).find((one) => one.file === file);
    return found?.status !== 'preparing' && { settled: found };
  });
  const remove = async () => {
    if (isNew) await client.downloads.delete(id, file, { signal });
  };
  if (settled?.url) return { url: settled.url, remove };
  if (settled !== undefined) await remove();
  return { problem: settled?.error?.message ?? 'Somebody has deleted the file meanwhile.' };
}

/** Why the video has no such file: it is not as large, or has no sound. */
function unavailable(error: unknown): string {
  if (error instanceof ApiError && error.code === 'rendition_not_available') return error.message;
  throw error;
}
