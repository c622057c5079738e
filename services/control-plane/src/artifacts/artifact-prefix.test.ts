import { expect, test } from '@jest/globals';
import { type ArtifactPlace, artifactPrefix } from './artifact-prefix.ts';

const VIDEO = { workspaceId: 'w', videoId: 'v' };

test.each<[ArtifactPlace, string | null]>([
  [{ kind: 'source', attempt: null, folder: 'x1/' }, 'sources/w/v/x1/'],
  [{ kind: 'segments', attempt: 2, folder: 't1.3/' }, 'hls/w/v/a2/t1.3/'],
  [{ kind: 'poster', attempt: 2, folder: 't0.1/' }, 'hls/w/v/a2/t0.1/'],
  [{ kind: 'storyboard', attempt: 2, folder: 't0.1/' }, 'hls/w/v/a2/t0.1/'],
  [{ kind: 'chosen_poster', attempt: null, folder: null }, null],
  [{ kind: 'captions', attempt: null, folder: null }, null],
])('%j has the prefix %s', (place, prefix) => {
  expect(artifactPrefix(VIDEO, place)).toBe(prefix);
});

test.each<ArtifactPlace>([
  { kind: 'source', attempt: null, folder: null },
  { kind: 'segments', attempt: null, folder: 't0.1/' },
  { kind: 'poster', attempt: 1, folder: null },
])('without its folder or attempt, an artifact must not be purged: %j', (place) => {
  expect(() => artifactPrefix(VIDEO, place)).toThrow(place.kind);
});
