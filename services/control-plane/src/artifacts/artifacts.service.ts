import type { StoredFiles } from '@framelane/contracts/outputs/kinds';
import type { OutputArtifact } from '@framelane/contracts/outputs/outputs';
import { sourceIn } from '@framelane/object-store/object-keys';
import type { Database } from '../db/database.ts';
import type { ArtifactKind } from '../db/schema.ts';
import { artifactPrefix } from './artifact-prefix.ts';
import {
  deleteArtifacts,
  findArtifact,
  findPlaces,
  updateStoredBytes,
  upsertArtifacts,
} from './artifacts.store.ts';

/** A stored file that a video refers to, or the segments of a rendition that one task has stored. */
export type Artifact = { bytes: number } & (
  | { kind: 'source'; folder: string }
  | (StoredFiles<OutputArtifact> & { attempt: number; folder: string })
  | { kind: 'chosen_poster' }
  | { kind: 'captions'; name: string }
);

/** Viewers cause these artifacts, which is no change of the video. */
const FOR_VIEWERS = 'picture';

type Video = { id: string; workspace_id: string };

/**
 * Adds artifacts of a locked video, in the transaction that accepts them; they replace those of the same kind and name. From then on, they
 * count as stored and are not purged. Resolves with whether one was replaced: then the caller schedules the purge of its objects.
 */
export async function addArtifacts(
  trx: Database,
  videoId: string,
  artifacts: readonly Artifact[],
): Promise<boolean> {
  if (artifacts.length === 0) return false;
  const rows = artifacts.map((artifact) => ({
    video_id: videoId,
    kind: artifact.kind,
    bytes: artifact.bytes,
    name: 'name' in artifact ? artifact.name : '',
    first_segment: 'firstSegment' in artifact ? artifact.firstSegment : 0,
    attempt: 'attempt' in artifact ? artifact.attempt : null,
    folder: 'folder' in artifact ? artifact.folder : null,
  }));
  const hasReplaced = await upsertArtifacts(trx, rows);
  await updateStoredBytes(trx, videoId, !artifacts.every(({ kind }) => kind === FOR_VIEWERS));
  return hasReplaced;
}

/** Removes an artifact of a locked video. It no longer counts as stored; the caller schedules the purge of its objects, if it has any. */
export async function removeArtifact(
  trx: Database,
  videoId: string,
  artifact:
    | { kind: 'source' | 'chosen_poster' | 'picked_poster'; name?: undefined }
    | { kind: 'captions' | 'download'; name: string },
): Promise<void> {
  const { kind, name = '' } = artifact;
  await removeArtifacts(trx, videoId, kind, [name]);
}

/** Removes artifacts of a kind, as `removeArtifact` does. */
export async function removeArtifacts(
  trx: Database,
  videoId: string,
  kind: ArtifactKind,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await deleteArtifacts(trx, videoId, { kind, names });
  await updateStoredBytes(trx, videoId, kind !== FOR_VIEWERS);
}

/** The key and the size of the stored source of a video; undefined without one. */
export async function storedSource(
  db: Database,
  { id, workspace_id: workspaceId }: Video,
): Promise<{ key: string; bytes: number } | undefined> {
  const source = await findArtifact(db, id, 'source');
  if (source === undefined || source.folder === null) return undefined;
  return { key: sourceIn(workspaceId, id, source.folder), bytes: source.bytes };
}

/** The size of the poster that a client has set for a video; 0 without one. */
export async function chosenPosterBytes(db: Database, videoId: string): Promise<number> {
  return (await findArtifact(db, videoId, 'chosen_poster'))?.bytes ?? 0;
}

/** The prefixes of all objects that a video refers to. */
export async function artifactPrefixes(
  db: Database,
  { id: videoId, workspace_id: workspaceId }: Video,
): Promise<string[]> {
  const places = await findPlaces(db, videoId);
  const prefixes = places.map((place) => artifactPrefix({ workspaceId, videoId }, place));
  return [...new Set(prefixes.filter((prefix) => prefix !== null))];
}
