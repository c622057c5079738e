import type { Database } from './database.ts';

/** A query of the video of a workspace, unless it is deleted. */
export function livingVideo(db: Database, workspaceId: string, videoId: string) {
  return db
    .selectFrom('videos')
    .where('videos.id', '=', videoId)
    .where('videos.workspace_id', '=', workspaceId)
    .where('videos.deleted_at', 'is', null);
}
