import { outputPrefix, sourcePrefix } from '@framelane/object-store/object-keys';
import type { ArtifactKind } from '../db/schema.ts';

/** Who stores the files of each kind: a transfer or an attempt in the object store, or the control plane in its database. */
export const STORED_BY = {
  source: 'transfer',
  segments: 'attempt',
  poster: 'attempt',
  storyboard: 'attempt',
  chosen_poster: 'control plane',
  captions: 'control plane',
} as const satisfies Record<ArtifactKind, 'transfer' | 'attempt' | 'control plane'>;

/** Where files of an artifact are: the columns of its row. */
export type ArtifactPlace = { kind: ArtifactKind; attempt: number | null; folder: string | null };

/** The prefix of the objects of an artifact; null if it is in the database. */
export function artifactPrefix(
  { workspaceId, videoId }: { workspaceId: string; videoId: string },
  { kind, attempt, folder }: ArtifactPlace,
): string | null {
  if (STORED_BY[kind] === 'control plane') return null;
  if (folder === null) throw new Error(`An artifact of ${videoId} has no folder: ${kind}`);
  if (STORED_BY[kind] === 'transfer') return `${sourcePrefix(workspaceId, videoId)}${folder}`;
  if (attempt === null) throw new Error(`An artifact of ${videoId} has no attempt: ${kind}`);
  return outputPrefix({ workspaceId, videoId, attempt, folder });
}
