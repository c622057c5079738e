import { expect, test } from '@jest/globals';
import type { Snapshot } from './snapshot.ts';
import { violations } from './violations.ts';

const VIDEO: Snapshot['videos'][number] = {
  id: 'vid_1',
  workspaceId: 'ws_1',
  status: 'failed',
  deleted: false,
  uploaded: true,
  sourceDeleted: true,
  attempt: 1,
  hasKey: false,
  ticketExpired: true,
  isLeased: false,
  attemptsOpen: 0,
  retries: 0,
  codecs: [],
  renditions: [],
  segments: [],
  stored: [],
  artifacts: [],
};

/** The violations of a cluster with one video, whose events all were delivered. */
function found(video: Partial<Snapshot['videos'][number]>, types: readonly string[]): string[] {
  const events = types.map((type, at) => ({
    id: `evt_${at}`,
    type,
    videoId: VIDEO.id,
    duration: type === 'video.ready' ? 60 : null,
    codec: null,
  }));
  return violations({
    videos: [{ ...VIDEO, ...video }],
    objects: new Map(),
    unfinishedUploads: [],
    events,
    delivered: events,
    reusedEventIds: [],
    deliveriesOpen: 0,
    messages: {},
    jobs: [],
    ffmpegs: [],
    jobDirectories: [],
    usage: { minutes: types.includes('video.ready') ? 1 : 0, storageBytes: 0, bandwidthBytes: 0 },
    sentBytes: 0,
    died: [],
    serverErrors: [],
  });
}

test.each<[string, Partial<Snapshot['videos'][number]>, string[]]>([
  ['failed', {}, ['video.failed']],
  ['failed, was retried and failed again', { retries: 1 }, ['video.failed', 'video.failed']],
  [
    'failed, was retried and is ready',
    { status: 'ready', retries: 1, hasKey: true },
    ['video.failed', 'video.ready'],
  ],
  ['failed, was retried and is deleted', { deleted: true }, ['video.failed', 'video.deleted']],
])('a video that %s is no violation', (_, video, types) => {
  expect(found(video, types)).toEqual([]);
});

test.each<[string, Partial<Snapshot['videos'][number]>, string[], string]>([
  ['no event', {}, [], 'has 0 video.failed events, but has failed 1 times'],
  ['two events', {}, ['video.failed', 'video.failed'], 'has 2 video.failed events, but has failed 1 times'],
  [
    'no event of the failure before a retry',
    { status: 'ready', retries: 1 },
    ['video.ready'],
    'has 0 video.failed events, but has failed 1 times',
  ],
])('%s: a failure that is not told exactly once', (_, video, types, violation) => {
  expect(found(video, types)).toEqual([`5: vid_1 ${violation}`]);
});
