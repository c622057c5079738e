import { expect, test } from '@jest/globals';
import { wrongCodecs } from './codec-violations.ts';

type State = Parameters<typeof wrongCodecs>[0];

const VIDEO: State['videos'][number] = {
  id: 'vid_1',
  workspaceId: 'ws_1',
  status: 'ready',
  deleted: false,
  uploaded: true,
  sourceDeleted: false,
  attempt: 1,
  hasKey: true,
  ticketExpired: true,
  isLeased: false,
  attemptsOpen: 0,
  retries: 0,
  codecs: [
    { codec: 'av1', status: 'ready', error: null },
    { codec: 'hevc', status: 'failed', error: { code: 'codec_failed' } },
  ],
  renditions: ['360p', '480p', 'audio', '360p-av1', '480p-av1'].map((name) => ({ name, segments: 3 })),
  segments: [],
  stored: [],
  artifacts: [
    { prefix: 'sources/ws_1/vid_1/original', bytes: 1, rendition: null },
    { prefix: 'hls/ws_1/vid_1/a1/t6.1/360p-av1/', bytes: 1, rendition: '360p-av1' },
  ],
};
const event = (type: string, codec: string | null = null) => ({
  id: 'evt_1',
  type,
  videoId: 'vid_1',
  duration: 2,
  codec,
});
const EVENTS = [event('video.ready'), event('video.codec.ready', 'av1'), event('video.codec.failed', 'hevc')];

const found = (changes: Partial<State['videos'][number]>, events: State['events'] = EVENTS) =>
  wrongCodecs({ videos: [{ ...VIDEO, ...changes }], events });

/** The video, with another state of AV1. */
const withAv1 = (status: 'preparing' | 'ready' | 'failed', error: { code: string } | null = null) => ({
  codecs: [{ codec: 'av1' as const, status, error }],
});
const withoutRendition = (name: string) => ({
  renditions: VIDEO.renditions.filter((rendition) => rendition.name !== name),
});

test('codecs that have ended as guaranteed are no violation', () => {
  expect(found({})).toEqual([]);
});

test('codecs of a video that has failed, was retried and is ready are no violation', () => {
  const failures = [
    event('video.failed'),
    event('video.codec.failed', 'av1'),
    event('video.codec.failed', 'hevc'),
  ];
  expect(found({}, [...failures, ...EVENTS])).toEqual([]);
  expect(found({ status: 'failed', renditions: [], artifacts: [] }, failures)).toEqual([]);
});

test.each<[string, Partial<State['videos'][number]>, string[]]>([
  [
    'a rung is missing',
    withoutRendition('480p-av1'),
    ['2: vid_1 has in av1 "360p: 3", not "360p: 3, 480p: 3"'],
  ],
  [
    'a segment is missing',
    {
      renditions: VIDEO.renditions.map((each) =>
        each.name === '360p-av1' ? { ...each, segments: 2 } : each,
      ),
    },
    ['2: vid_1 has in av1 "360p: 2, 480p: 3", not "360p: 3, 480p: 3"'],
  ],
  [
    'a codec that has failed has a rendition',
    { renditions: [...VIDEO.renditions, { name: '360p-hevc', segments: 3 }] },
    ['2: vid_1 has in hevc "360p: 3", not ""'],
  ],
  [
    'a codec that has failed has segments',
    { artifacts: [{ prefix: 'hls/ws_1/vid_1/a1/t9.1/360p-hevc/', bytes: 1, rendition: '360p-hevc' }] },
    ['2: hls/ws_1/vid_1/a1/t9.1/360p-hevc/ belongs to no rendition'],
  ],
  [
    'a codec has failed without a reason',
    { ...withAv1('failed'), renditions: [], artifacts: [] },
    [
      '1: av1 of vid_1 is failed with the error undefined',
      '5: av1 of vid_1 has the events "video.codec.ready", not "video.codec.failed"',
    ],
  ],
])('%s', (_, changes, expected) => {
  expect(found(changes)).toEqual(expected);
});

test.each([
  ['no event', EVENTS.slice(0, 1), ''],
  ['two events', [...EVENTS, event('video.codec.ready', 'av1')], 'video.codec.ready, video.codec.ready'],
  ['another event', [event('video.codec.failed', 'av1')], 'video.codec.failed'],
])('the end of a codec has %s', (_, events, types) => {
  expect(found(withAv1('ready'), events)).toEqual([
    `5: av1 of vid_1 has the events "${types}", not "video.codec.ready"`,
  ]);
});

test('a codec of a deleted video became ready at most once', () => {
  const deleted = { deleted: true, codecs: [], renditions: [], artifacts: [] };
  expect(found(deleted)).toEqual([]);
  expect(found(deleted, [...EVENTS, event('video.codec.ready', 'av1')])).toEqual([
    '5: av1 of vid_1 has more than one video.codec.ready event',
  ]);
});
