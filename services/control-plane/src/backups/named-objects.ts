import { type DownloadName, downloadExtension } from '@framelane/contracts/outputs/download';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { type PictureFormat, pictureFile } from '@framelane/contracts/outputs/picture';
import type { PackagingName } from '@framelane/contracts/packaging';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import { type ArtifactPlace, artifactPrefix } from '../artifacts/artifact-prefix.ts';
import type { ArtifactKind } from '../db/schema.ts';
import { artifactsOf } from '../tasks/artifacts-of-results.ts';

/** An object, and the bytes that it must have. */
export type NamedObject = { key: string; bytes: number };

/** A row of `artifacts`. `segmentBytes` are the sizes of its segments; null for other files, and for segments of which only a task has the sizes. */
export type StoredArtifact = ArtifactPlace & {
  name: string;
  firstSegment: number;
  bytes: number;
  segmentBytes: readonly number[] | null;
};

/** What the rows of a video say about its objects. */
export type StoredVideo = {
  workspaceId: string;
  videoId: string;
  packaging: PackagingName;
  artifacts: readonly StoredArtifact[];
  /** The results of tasks whose attempt goes on. `revision` is that of its plan. */
  results: readonly { attempt: number; revision: number; task: number; try: number; result: TaskResult }[];
};

/** Every object that the rows of a video name, in the order of the bytes of the keys. What only a running try has stored is named by no row. */
export function namedObjects(video: StoredVideo): NamedObject[] {
  const artifacts = [...video.results.flatMap(artifactsOfResult), ...video.artifacts];
  const bytesByKey = new Map(
    artifacts.flatMap((artifact) => objectsOf(video, artifact)).map(({ key, bytes }) => [key, bytes]),
  );
  return [...bytesByKey].map(([key, bytes]) => ({ key, bytes })).sort((a, b) => (a.key < b.key ? -1 : 1));
}

function artifactsOfResult(of: StoredVideo['results'][number]): StoredArtifact[] {
  return artifactsOf(of, [of]).flatMap((artifact) => {
    if (!('attempt' in artifact)) return [];
    const { name = '', firstSegment = 0 } = artifact;
    const part = of.result.renditions?.find((each) => each.name === name && each.first === firstSegment);
    const segmentBytes = part?.segments.map(({ bytes }) => bytes) ?? null;
    return [{ ...artifact, name, firstSegment, segmentBytes }];
  });
}

function objectsOf(video: StoredVideo, artifact: StoredArtifact): NamedObject[] {
  const prefix = artifactPrefix(video, artifact);
  if (prefix === null) return [];
  const { kind, name, firstSegment, bytes, segmentBytes } = artifact;
  if (kind !== 'segments') return [{ key: `${prefix}${fileName(kind, name)}`, bytes }];
  return (segmentBytes ?? []).map((bytes, index) => ({
    key: segmentKeyBelow(prefix, name, firstSegment + index, video.packaging),
    bytes,
  }));
}

/** The name of the file of an artifact that is one object. */
function fileName(kind: Exclude<ArtifactKind, 'segments'>, name: string): string {
  switch (kind) {
    case 'source':
      return 'original';
    case 'poster':
    case 'storyboard':
      return `${kind}.jpg`;
    case 'picked_poster':
      return pictureFile('jpg');
    case 'picture':
      return pictureFile(name.slice(name.lastIndexOf('.') + 1) as PictureFormat);
    case 'download':
      return `download.${downloadExtension(name as DownloadName)}`;
    case 'captions':
    case 'chosen_poster':
      throw new Error(`${kind} is in the database`);
  }
}
