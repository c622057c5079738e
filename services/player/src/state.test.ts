import { afterEach, expect, jest, test } from '@jest/globals';
import { PROBLEMS } from '../../../packages/contracts/src/problem-codes.ts';
import { fetchState, pollAfter, previewWords, type State, sourceOf, wordsFor } from './state.ts';

const READY: State = { status: 'ready', hls: '/v1/hls/a', poster: null, storyboard: null, chapters: null };
const PAGE = { pathname: '/v1/embed/ws_a/vid_a/' };

afterEach(() => void jest.restoreAllMocks());

function respond(status: number, body: string): void {
  jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(body, { status }));
}

test.each<[State, string]>([
  [
    { status: 'preparing', progress: 40 },
    'This video is being prepared: 40 %. It appears here when it can be played.',
  ],
  [{ status: 'preparing', progress: 40, hls: '/v1/hls/a' }, ''],
  [
    { status: 'preparing', progress: 40, audioOnly: true },
    'This recording is being prepared: 40 %. It appears here when it can be played.',
  ],
  [{ status: 'waiting' }, 'This part is being prepared. Playback continues when it is ready.'],
  [{ status: 'failed' }, 'This video could not be prepared.'],
  [{ status: 'failed', audioOnly: true }, 'This recording could not be prepared.'],
  [{ status: 'offline' }, 'No connection. Playback continues when it is back.'],
  [{ status: 'refused', code: 'rate_limited' }, 'The video cannot be shown at the moment. Try again later.'],
  [READY, ''],
])('in the state %j, the page says %j', (state, words) => {
  expect(wordsFor(state)).toBe(words);
});

test.each<[State, string]>([
  [{ status: 'preparing', progress: 40 }, ''],
  [{ status: 'preparing', progress: 40, hls: '/v1/hls/a' }, 'This video is being prepared: 40 %'],
  [
    { status: 'preparing', progress: 40, hls: '/v1/hls/a', audioOnly: true },
    'This recording is being prepared: 40 %',
  ],
  [READY, ''],
])('in the state %j, the page shows %j above the video', (state, words) => {
  expect(previewWords(state)).toBe(words);
});

test('every refusal of the page has words of its own', () => {
  const codes = Object.keys(PROBLEMS).filter(
    (code) => code.startsWith('playback_token_') || code === 'video_not_found',
  );
  const words = codes.map((code) => wordsFor({ status: 'refused', code }));
  expect(new Set(words).size).toBe(codes.length);
  expect(words).not.toContain(wordsFor({ status: 'refused', code: 'unknown' }));
});

test('asks for the state beside the page, with the token', async () => {
  respond(200, JSON.stringify(READY));
  expect(await fetchState(PAGE, 'a.b')).toEqual(READY);
  expect(fetch).toHaveBeenCalledWith(
    '/v1/embed/ws_a/vid_a/state?token=a.b',
    expect.objectContaining({ cache: 'no-store' }),
  );
});

test.each<[string, number, string, State]>([
  [
    'a refusal',
    403,
    '{"code":"playback_token_expired"}',
    { status: 'refused', code: 'playback_token_expired' },
  ],
  ['a refusal of something in between', 429, '{"error":"slow down"}', { status: 'refused', code: '' }],
  ['a service that restarts', 503, '{"code":"unavailable"}', { status: 'offline' }],
  ['a response that is not JSON', 200, '<html>', { status: 'offline' }],
])('%s becomes a state of the page', async (_, status, body, state) => {
  respond(status, body);
  expect(await fetchState(PAGE, undefined)).toEqual(state);
});

test('a lost connection becomes the state offline', async () => {
  jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Failed to fetch'));
  expect(await fetchState(PAGE, undefined)).toEqual({ status: 'offline' });
});

test('a request without a response becomes the state offline after 20 s', async () => {
  const timeout = new AbortController();
  const after = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
  jest
    .spyOn(globalThis, 'fetch')
    .mockImplementation(
      (_, { signal } = {}) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    );
  const state = fetchState(PAGE, undefined);
  timeout.abort();
  expect(await Promise.race([state, new Promise(setImmediate)])).toEqual({ status: 'offline' });
  expect(after).toHaveBeenCalledWith(20_000);
});

test('polls while the video is being prepared, and ever less often while there is no connection', () => {
  expect(pollAfter({ status: 'preparing', progress: 0 }, 5)).toBe(1000);
  expect(pollAfter({ status: 'preparing', progress: 0, hls: 'https://video.example/a.m3u8' }, 5)).toBe(2000);
  expect([0, 1, 2, 5, 50].map((failures) => pollAfter({ status: 'offline' }, failures))).toEqual([
    1000, 2000, 4000, 30_000, 30_000,
  ]);
  expect([READY, { status: 'failed' } as const].map((state) => pollAfter(state, 0))).toEqual([
    undefined,
    undefined,
  ]);
});

test('a video can be played when it is ready, or early without its images', () => {
  expect(sourceOf(READY)).toEqual(READY);
  const early = { hls: '/v1/hls/a', poster: null, storyboard: null, chapters: null };
  expect(sourceOf({ status: 'preparing', progress: 4, hls: '/v1/hls/a' })).toStrictEqual(early);
  expect(sourceOf({ status: 'preparing', progress: 4, hls: '/v1/hls/a', attempt: 2 })).toStrictEqual({
    ...early,
    attempt: 2,
  });
  expect(
    [
      { status: 'preparing', progress: 4 } as const,
      { status: 'offline' } as const,
      { status: 'failed' } as const,
    ].map(sourceOf),
  ).toEqual([undefined, undefined, undefined]);
});
