import type { OutputArtifact } from '@framelane/contracts/outputs/outputs';
import { outputPrefix, sourcePrefix } from '@framelane/object-store/object-keys';
import type { ArtifactKind } from '../db/schema.ts';

type StoredBy = 'transfer' | 'attempt' | 'control plane';

/** Who stores the files that are no output of an attempt. */
const OTHERS: Record<Exclude<ArtifactKind, OutputArtifact>, StoredBy> = {
  source: 'transfer',
  chosen_poster: 'control plane',
  captions: 'control plane',
};

/** Who stores the files of a kind: a transfer or an attempt in the object store, or the control plane in its database. */
function storedBy(kind: ArtifactKind): StoredBy {
  return kind in OTHERS ? OTHERS[kind as keyof typeof OTHERS] : 'attempt';
}

/** Where files of an artifact are: the columns of its row. */
export type ArtifactPlace = { kind: ArtifactKind; attempt: number | null; folder: string | null };

/** The prefix of the objects of an artifact; null if it is in the database. */
export function artifactPrefix(
  { workspaceId, videoId }: { workspaceId: string; videoId: string },
  { kind, attempt, folder }: ArtifactPlace,
): string | null {
  if (storedBy(kind) === 'control plane') return null;
  if (folder === null) throw new Error(`An artifact of ${videoId} has no folder: ${kind}`);
  if (storedBy(kind) === 'transfer') return `${sourcePrefix(workspaceId, videoId)}${folder}`;
  if (attempt === null) throw new Error(`An artifact of ${videoId} has no attempt: ${kind}`);
  return outputPrefix({ workspaceId, videoId, attempt, folder });
}
