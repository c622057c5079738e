import { describe, expect, test } from '@jest/globals';
import { toVideoRecord, type VideoDetails } from './video-record.ts';

const BASE_URL = 'http://framelane.test/v1';
const HLS = `${BASE_URL}/hls/ws_1/vid_1`;
/** The nth minute of a day. */
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const text = (minute: number) => at(minute).toISOString();

/** A video that waits for its upload, without optional values, and without columns that the record shows as they are. */
const UPLOADING = {
  id: 'vid_1',
  workspace_id: 'ws_1',
  environment: 'live',
  status: 'uploading',
  title: 'Any',
  filename: 'any.mp4',
  playback_policy: 'public',
  allowed_origins: null,
  playback_version: 1,
  metadata: {},
  tags: [],
  size: null,
  sha256: null,
  source: null,
  input_issues: [],
  duration: null,
  width: null,
  height: null,
  frame_rate: null,
  variants: null,
  preview_variants: null,
  target_duration: null,
  storyboard: null,
  chosen_poster: null,
  chapter_count: 0,
  start_timestamp: 0,
  storage_bytes: 0,
  progress: 0,
  attempt: 0,
  failed_attempts: 0,
  as_a_whole: false,
  command_due_at: null,
  command_claimed_until: null,
  command_published_at: null,
  waiting_since: null,
  content_key: null,
  error_code: null,
  error_message: null,
  created_at: at(1),
  updated_at: at(2),
  uploaded_at: null,
  ready_at: null,
  failed_at: null,
  retried_at: [],
  keep_source_days: null,
  delete_source_at: null,
  source_deleted_at: null,
  remove_at: null,
  deleted_at: null,
  upload_expires_at: at(9),
  import: null,
  audio: null,
  codecs: [],
  video_renditions: [],
  captions: [],
  autoCaptions: [],
  downloads: [],
  clip_of: null,
  stored: {},
  version: '1',
} as unknown as VideoDetails;

const recordOf = (changes: Partial<VideoDetails> = {}) =>
  toVideoRecord({ ...UPLOADING, ...changes }, BASE_URL);

const READY: Partial<VideoDetails> = { status: 'ready', variants: ['360p'] };
const AV1 = { codec: 'av1', status: 'preparing', error: null } as const;

describe('the codecs', () => {
  const codecs = (changes: Partial<VideoDetails>) =>
    recordOf({ codecs: [AV1], ...changes }).codecs.map(({ codec, status, error }) =>
      [codec, status, ...(error ? [error.code] : [])].join(' '),
    );

  test('are being prepared until the video is ready, and H.264 is ready with it', () => {
    expect(codecs({ codecs: [] })).toEqual(['h264 preparing']);
    expect(codecs({})).toEqual(['h264 preparing', 'av1 preparing']);
    expect(codecs(READY)).toEqual(['h264 ready', 'av1 preparing']);
  });

  test('end alone, or with their video', () => {
    const error = { code: 'codec_failed', message: 'Why.' } as const;
    const ended = [
      { ...AV1, status: 'failed', error } as const,
      { ...AV1, codec: 'hevc', status: 'ready' } as const,
    ];
    expect(codecs({ ...READY, codecs: ended })).toEqual([
      'h264 ready',
      'av1 failed codec_failed',
      'hevc ready',
    ]);
    expect(codecs({ status: 'failed' })).toEqual(['h264 failed video_failed', 'av1 failed video_failed']);
  });

  test('are none for sound alone', () => {
    expect(codecs({ ...READY, variants: [] })).toEqual([]);
    expect(codecs({ audio_only: true })).toEqual([]);
  });
});

test('a ready video has its renditions, by codec and the lowest first', () => {
  const facts = {
    codecs: 'any',
    width: 640,
    height: 360,
    frameRate: 25,
    videoRange: 'SDR',
    bandwidth: 2,
    averageBandwidth: 1,
  } as const;
  const names = ['720p-av1', '720p', '360p-hevc', '360p'] as const;
  const stored = names.map((name) => ({ ...facts, name }));
  const { renditions } = recordOf({ ...READY, video_renditions: stored });
  expect(renditions).toEqual([
    { ...facts, variant: '360p', codec: 'h264' },
    { ...facts, variant: '720p', codec: 'h264' },
    { ...facts, variant: '720p', codec: 'av1' },
    { ...facts, variant: '360p', codec: 'hevc' },
  ]);
  expect(recordOf({ video_renditions: stored })).not.toHaveProperty('renditions');
});

const SOURCE = { container: 'matroska', videoCodec: 'h264', audioCodec: null };
const STORYBOARD = { width: 160, height: 90, columns: 1, tiles: 1, interval: 1 };

test('a video that waits for its upload has the expiry of its ticket, but no playback', () => {
  const record = recordOf();
  expect(record).toMatchObject({
    id: 'vid_1',
    workspaceId: 'ws_1',
    status: 'uploading',
    createdAt: text(1),
    updatedAt: text(2),
    embed: `${BASE_URL}/embed/ws_1/vid_1`,
    thumbnail: null,
    storyboard: null,
    preview: null,
    aspectRatio: null,
    error: null,
    source: null,
    import: null,
    captions: [],
    autoCaptions: [],
    expiresAt: text(9),
    sourceFile: { stored: false, keptUntil: null, deletedAt: null },
    retryable: false,
    uploadedAt: null,
    readyAt: null,
  });
  for (const field of ['hls', 'variants', 'audioTracks']) expect(record).not.toHaveProperty(field);
});

test('a ready video has its playlist, its properties and its removal', () => {
  const record = recordOf({
    ...READY,
    width: 1920,
    height: 1080,
    sha256: 'hash',
    remove_at: at(7),
    source: SOURCE,
    storyboard: STORYBOARD,
    uploaded_at: at(3),
    ready_at: at(4),
  });
  expect(record).toMatchObject({
    hls: `${HLS}/master.m3u8`,
    variants: ['360p'],
    audioTracks: [],
    aspectRatio: '16:9',
    storyboard: `${HLS}/storyboard.vtt`,
    uploadedAt: text(3),
    readyAt: text(4),
    expiresAt: text(7),
    source: { ...SOURCE, sha256: 'hash' },
  });
});

test('a pair of values is shown only if both are known', () => {
  for (const changes of [{ width: 640 }, { height: 360 }, { source: SOURCE }, { sha256: 'hash' }])
    expect(recordOf(changes)).toMatchObject({ aspectRatio: null, source: null });
});

describe('a poster', () => {
  const CHOSEN = { chosen_poster: { width: 640, height: 360 }, stored: { chosen_poster: 40 } };

  test.each<[string, Partial<VideoDetails>, boolean]>([
    ['of the transcode', { ...READY, stored: { poster: 9 } }, true],
    ['that was chosen for a ready video', { ...READY, ...CHOSEN }, true],
    ['that was chosen for a preview', { ...CHOSEN, status: 'processing', preview_variants: ['360p'] }, true],
    ['that was chosen before the video can be played', { ...CHOSEN, status: 'processing' }, false],
    ['that does not exist', READY, false],
  ])('%s', (_, changes, hasThumbnail) => {
    expect(recordOf(changes).thumbnail).toBe(hasThumbnail ? `${HLS}/poster.jpg` : null);
    const isChosen = changes.chosen_poster !== undefined;
    expect(recordOf(changes).poster).toEqual(isChosen ? { width: 640, height: 360, bytes: 40 } : null);
  });
});

test('a preview has a playlist', () => {
  const { preview, hls } = recordOf({ status: 'processing', preview_variants: ['360p', '480p'] });
  expect(preview).toEqual({ hls: `${HLS}/master.m3u8`, variants: ['360p', '480p'] });
  expect(hls).toBeUndefined();
});

test('the audio tracks have the order of their renditions', () => {
  const { audioTracks } = recordOf({
    ...READY,
    audio: [
      { name: 'audio3', label: 'Comments', language: 'de', role: 'commentary', channels: 1 },
      { name: 'surround', label: 'English', language: 'en', role: null, channels: 6 },
      { name: 'audio', label: 'Audio', language: null, role: null, channels: null },
    ],
  });
  expect(audioTracks).toEqual([
    { name: 'Audio', language: null, role: 'main', channels: 2, surround: true, default: true },
    { name: 'Comments', language: 'de', role: 'commentary', channels: 1, surround: false, default: false },
  ]);
});

test('times within JSON have the format of the API', () => {
  // PostgreSQL writes them with an offset.
  const [time, expected] = ['2026-01-01T02:00:00.000+02:00', '2026-01-01T00:00:00.000Z'];
  const captions = {
    language: 'en',
    label: 'English',
    default: true,
    cues: 1,
    bytes: 9,
    origin: 'person' as const,
    updatedAt: time,
  };
  const row = {
    url: 'https://a.example',
    bytes: 1,
    totalBytes: null,
    tries: 1,
    nextTryAt: time,
    failure: null,
  };
  expect(recordOf({ captions: [captions] }).captions).toEqual([{ ...captions, updatedAt: expected }]);
  expect(recordOf({ import: row }).import).toEqual({ ...row, nextTryAt: expected });
  expect(recordOf({ import: { ...row, nextTryAt: null } }).import).toMatchObject({ nextTryAt: null });
});

describe('the source', () => {
  const STORED = { stored: { source: 70 }, uploaded_at: at(3) };
  const FAILED = { ...STORED, status: 'failed', error_code: 'storage_failed' } as const;

  test.each<[string, Partial<VideoDetails>, { stored: boolean; retryable: boolean }]>([
    ['of a failed video is stored', FAILED, { stored: true, retryable: true }],
    ['can never be transcoded', { ...FAILED, error_code: 'not_a_video' }, { stored: true, retryable: false }],
    ['of a ready video is stored', { ...READY, ...STORED }, { stored: true, retryable: false }],
    ['is deleted', { ...FAILED, stored: {}, source_deleted_at: at(5) }, { stored: false, retryable: false }],
    ['never arrived', { ...FAILED, stored: {}, uploaded_at: null }, { stored: false, retryable: false }],
  ])('%s: can the video be retried?', (_, changes, { stored, retryable }) => {
    expect(recordOf(changes)).toMatchObject({ retryable, sourceFile: { stored } });
  });

  test('has the time of its deletion', () => {
    const times = (changes: Partial<VideoDetails>) => recordOf({ ...FAILED, ...changes }).sourceFile;
    expect(times({ delete_source_at: at(8) })).toMatchObject({ keptUntil: text(8), deletedAt: null });
    expect(times({ source_deleted_at: at(5) })).toMatchObject({ keptUntil: null, deletedAt: text(5) });
  });
});

test('a failed video has its error, with or without a message', () => {
  const errorOf = (error_message: string | null) =>
    recordOf({ status: 'failed', error_code: 'not_a_video', error_message }).error;
  expect(errorOf('No video.')).toEqual({ code: 'not_a_video', message: 'No video.' });
  expect(errorOf(null)).toEqual({ code: 'not_a_video', message: '' });
});
