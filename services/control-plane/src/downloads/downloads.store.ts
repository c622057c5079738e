import type { DownloadName } from '@framelane/contracts/outputs/download';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { livingVideo } from '../db/living-video.ts';

/** Removes a download. Resolves with whether there was one. */
export async function removeDownload(trx: Database, videoId: string, name: DownloadName): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('downloads')
    .where('video_id', '=', videoId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** A download that is ready, with the title and the place of its file. */
export type DownloadFile = { title: string; bytes: number; attempt: number; folder: string };

export async function findDownload(
  db: Database,
  workspaceId: string,
  videoId: string,
  name: DownloadName,
): Promise<DownloadFile | undefined> {
  return livingVideo(db, workspaceId, videoId)
    .innerJoin('artifacts', 'artifacts.video_id', 'videos.id')
    .select([
      'videos.title',
      'bytes',
      // Outputs of attempts have both.
      sql<number>`artifacts.attempt`.as('attempt'),
      sql<string>`folder`.as('folder'),
    ])
    .where('videos.status', '=', 'ready')
    .where('kind', '=', 'download')
    .where('name', '=', name)
    .executeTakeFirst();
}
