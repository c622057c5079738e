import { expect, test } from '@jest/globals';
import { nameOf, sessionIdOf, unite, type ViewReport } from './view-report.ts';

const EMPTY: ViewReport = {
  day: '2026-11-29',
  workspaceId: 'ws_1',
  videoId: 'vid_1',
  sessionId: sessionIdOf('a'),
  visitor: Buffer.alloc(8),
  device: 'phone',
  country: null,
  watched: [],
  segments: [],
  watchMs: null,
  startupMs: null,
  stalls: 0,
  stallMs: 0,
  error: null,
};
const EARLY: ViewReport = {
  ...EMPTY,
  watched: [{ from: 0, to: 5 }],
  watchMs: 5000,
  startupMs: 300,
  stalls: 1,
  stallMs: 50,
};
const LATE: ViewReport = {
  ...EARLY,
  watched: [{ from: 0, to: 9 }],
  watchMs: 9000,
  stalls: 2,
  stallMs: 80,
  error: 'interrupted',
};

/** Without the ranges, whose parts are united later. */
const withoutRanges = ({ watched: _, ...rest }: ViewReport) => rest;

test('two reports unite to the same, whichever is first, and a repeated one changes nothing', () => {
  expect(withoutRanges(unite(EARLY, LATE))).toEqual(withoutRanges(LATE));
  expect(withoutRanges(unite(LATE, EARLY))).toEqual(withoutRanges(LATE));
  expect(withoutRanges(unite(LATE, LATE))).toEqual(withoutRanges(LATE));
  expect(withoutRanges(unite(EMPTY, EARLY))).toEqual(withoutRanges(EARLY));
  expect(withoutRanges(unite(EARLY, EMPTY))).toEqual(withoutRanges(EARLY));
});

test('ranges of both count', () => {
  expect(unite(EARLY, LATE).watched).toEqual([
    { from: 0, to: 5 },
    { from: 0, to: 9 },
  ]);
});

test('the worse error counts', () => {
  const [bad, worse] = [LATE, { ...LATE, error: 'unsupported' as const }];
  expect(unite(bad, worse).error).toBe('unsupported');
  expect(unite(worse, bad).error).toBe('unsupported');
});

test('the viewer, the device and the day are those of the first report', () => {
  const other = {
    ...EARLY,
    day: '2026-11-30',
    device: 'tv' as const,
    country: 'DE',
    visitor: Buffer.alloc(8, 1),
  };
  expect(unite(EARLY, other)).toMatchObject({
    day: EARLY.day,
    device: 'phone',
    country: null,
    visitor: EARLY.visitor,
  });
});

test('a session id is a UUID that does not show the text', () => {
  expect(sessionIdOf('someone@example.com')).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect(sessionIdOf('a')).not.toBe(sessionIdOf('b'));
  expect(sessionIdOf('a')).toBe(sessionIdOf('a'));
});

test('a session is of one video', () => {
  expect(nameOf(EARLY)).not.toBe(nameOf({ ...EARLY, videoId: 'vid_2' }));
});
