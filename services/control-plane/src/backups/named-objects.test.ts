import { expect, test } from '@jest/globals';
import { namedObjects, type StoredArtifact, type StoredVideo } from './named-objects.ts';

const VIDEO: StoredVideo = {
  workspaceId: 'w',
  videoId: 'v',
  packaging: 'ts',
  artifacts: [],
  results: [],
};

function artifact(values: Partial<StoredArtifact>): StoredArtifact {
  const none = { name: '', firstSegment: 0, attempt: 1, folder: 't0.1/', bytes: 7, segmentBytes: null };
  return { kind: 'poster', ...none, ...values };
}

const named = (artifacts: Partial<StoredArtifact>[], others: Partial<StoredVideo> = {}) =>
  namedObjects({ ...VIDEO, artifacts: artifacts.map(artifact), ...others }).map(
    ({ key, bytes }) => `${key} ${bytes}`,
  );

test.each<[Partial<StoredArtifact>, string[]]>([
  [{ kind: 'source', attempt: null, folder: 'xfr_1/' }, ['sources/w/v/xfr_1/original 7']],
  [{ kind: 'poster' }, ['hls/w/v/a1/t0.1/poster.jpg 7']],
  [{ kind: 'storyboard' }, ['hls/w/v/a1/t0.1/storyboard.jpg 7']],
  [{ kind: 'picked_poster', folder: 't3.1/' }, ['hls/w/v/a1/t3.1/picture.jpg 7']],
  [{ kind: 'picture', name: 'preview-0-24x12-320x180.webp' }, ['hls/w/v/a1/t0.1/picture.webp 7']],
  [{ kind: 'download', name: '720p' }, ['hls/w/v/a1/t0.1/download.mp4 7']],
  [{ kind: 'download', name: 'audio' }, ['hls/w/v/a1/t0.1/download.m4a 7']],
  [{ kind: 'chosen_poster', attempt: null, folder: null }, []],
  [{ kind: 'captions', name: 'en', attempt: null, folder: null }, []],
])('%j is %j', (values, objects) => {
  expect(named([values])).toEqual(objects);
});

test('segments have the sizes of their rendition, and the folders of their tasks, in the order of bytes', () => {
  const segments = [
    { kind: 'segments', name: '360p', firstSegment: 9, folder: 't2.1/', segmentBytes: [30, 40] },
    { kind: 'segments', name: '360p', firstSegment: 0, folder: 't1.3/', segmentBytes: [10] },
  ] as const;
  const [first, ...others] = ['a1/t1.3/360p/0.ts 10', 'a1/t2.1/360p/10.ts 40', 'a1/t2.1/360p/9.ts 30'];
  expect(named([...segments])).toEqual([first, ...others].map((end) => `hls/w/v/${end}`));
  expect(named([segments[1]], { packaging: 'cmaf' })).toEqual(['hls/w/v/a1/t1.3/360p/0.m4s 10']);
});

test('results of tasks name objects before they are artifacts, and segments that have no rendition yet', () => {
  const segments = [{ duration: 6, bytes: 50 }];
  const result = {
    renditions: [{ name: '360p', first: 3, segments }],
    images: { poster: { bytes: 60 }, storyboard: null },
  } as unknown as StoredVideo['results'][number]['result'];
  const results = [{ attempt: 2, revision: 1, task: 4, try: 5, result }];
  const expected = ['360p/3.ts 50', 'poster.jpg 60'].map((end) => `hls/w/v/a2/t4.5/r1/${end}`);
  expect(named([], { results })).toEqual(expected);
  const codec = { kind: 'segments', name: '360p', firstSegment: 3, attempt: 2, folder: 't4.5/r1/' } as const;
  expect(named([codec], { results })).toEqual(expected);
});
