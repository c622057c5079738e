import { type PictureResult, type PictureWork, POSTER_PICTURE } from '@framelane/contracts/outputs/picture';
import { removeArtifact } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { type PicturedVideo, type PlannedPicture, planPoster, segmentsFor } from './picture-plan.ts';
import {
  findPicturedVideo,
  findSegmentDurations,
  removeChosenPoster,
  saveEnd,
  savePosterTime,
} from './pictures.store.ts';

/** What pictures of a ready video depend on; undefined for any other video. */
export function picturedVideo(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<PicturedVideo | undefined> {
  return findPicturedVideo(db, workspaceId, videoId);
}

/** The work of a planned picture. */
export async function workOf(
  trx: Database,
  { id }: Pick<VideoRow, 'id'>,
  picture: PlannedPicture,
): Promise<PictureWork> {
  const durations = await findSegmentDurations(trx, id, picture.rendition);
  return { ...picture, segments: segmentsFor(picture, durations) };
}

/** The work that makes the frame at a second the poster of a ready video; undefined if the video has no such frame. */
export async function posterWork(
  trx: Database,
  video: VideoRow,
  time: number,
): Promise<PictureWork | undefined> {
  const pictured = await findPicturedVideo(trx, video.workspace_id, video.id);
  const picture = pictured && planPoster(time, pictured);
  return picture && workOf(trx, video, picture);
}

/** The poster that a client has chosen before the video became ready. A time at which it has no frame is forgotten. */
export async function wantedPoster(trx: Database, video: VideoRow): Promise<PictureWork[]> {
  if (video.poster_time === null) return [];
  const work = await posterWork(trx, video, video.poster_time);
  if (work === undefined) await savePosterTime(trx, video.id, null);
  return work === undefined ? [] : [work];
}

/** Stores that a picture is ready. As the poster, it takes the place of the one that a client has uploaded. */
export async function addPicture(trx: Database, { id }: VideoRow, { name }: PictureResult): Promise<void> {
  if (name !== POSTER_PICTURE) return saveEnd(trx, id, name, 'ready');
  await removeChosenPoster(trx, id);
  await removeArtifact(trx, id, { kind: 'chosen_poster' });
}

/** Stores that a picture could not be made. Then the poster is no longer one that was picked before. */
export async function failPicture(trx: Database, { id }: VideoRow, { name }: PictureWork): Promise<void> {
  if (name !== POSTER_PICTURE) return saveEnd(trx, id, name, 'failed');
  await savePosterTime(trx, id, null);
  await removeArtifact(trx, id, { kind: 'picked_poster' });
}
