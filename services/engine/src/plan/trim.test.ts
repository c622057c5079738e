import { describe, expect, test } from '@jest/globals';
import { encodePlan } from '../../tests/support/tracks.ts';
import { planLadder } from './ladder.ts';
import { gridLead, partOf, skippedSeconds } from './trim.ts';

/** Ten seconds, which begin 0.02 seconds after the file. */
const whole = (numerator = 25, denominator = 1) => ({
  lead: 0.02,
  frameRate: { numerator, denominator },
  frames: Math.round((10 * numerator) / denominator),
  videoRenditions: planLadder({ width: 1280, height: 720 }, numerator / denominator),
});

describe('the part of a source', () => {
  test('is all of it without a trim', () => {
    const all = { lead: 0.02, firstFrame: 0, frames: 250, duration: 10, isTrimmed: false, endsAt: null };
    expect(partOf(whole(), undefined)).toEqual(all);
    expect(partOf(whole(), { start: 0, end: null })).toEqual(all);
    expect(partOf(whole(), { start: 0, end: 10 })).toEqual(all);
    expect(partOf(whole(), { start: 0.01, end: 11 })).toEqual({ ...all, endsAt: 10 });
  });

  test('begins and ends with the nearest frames', () => {
    expect(partOf(whole(), { start: 2.019, end: 5.021 })).toEqual({
      ...{ lead: 2.02, firstFrame: 50, frames: 76, duration: 3.04, isTrimmed: true, endsAt: null },
    });
    expect(partOf(whole(), { start: 2.021, end: 5.019 })).toMatchObject({ firstFrame: 51, frames: 74 });
    expect(partOf(whole(), { start: 0, end: 5 })).toMatchObject({
      firstFrame: 0,
      frames: 125,
      isTrimmed: true,
    });
    expect(partOf(whole(), { start: 9, end: 90 })).toMatchObject({ frames: 25, endsAt: 10 });
  });

  test('begins with a frame that all renditions have', () => {
    expect(partOf(whole(60), { start: 1 / 60, end: 4 })).toMatchObject({ firstFrame: 2, frames: 238 });
  });

  test.each([
    [9.9, 2],
    [9.92, null],
    [10, null],
    [500, null],
  ])('has 0.1 seconds at least: from second %d', (start, frames) => {
    const part = () => partOf(whole(), { start, end: null });
    if (frames !== null) expect(part().frames).toBe(frames);
    else
      expect(part).toThrow(
        expect.objectContaining({
          code: 'trim_after_end',
          retryable: false,
          message: `The video lasts 10.000 seconds, and the trim begins at second ${start}. Upload the video again with an earlier start.`,
        }),
      );
  });
});

test('the grid of the frames is that of the source', () => {
  for (const start of [0, 1 / 3, 2.002, 7.7]) {
    const { isTrimmed: _, endsAt: _end, ...part } = partOf(whole(30_000, 1001), { start, end: null });
    const { frameRate } = whole(30_000, 1001);
    expect(gridLead(encodePlan({ ...part, frameRate }))).toBe(0.02);
    expect(gridLead(encodePlan({ ...part, frameRate, lead: part.lead + 30_001.4 }))).toBe(30_001.42);
  }
});

test('the seconds that a run reads before the part', () => {
  expect(skippedSeconds(encodePlan({ lead: 0.5 }))).toBe(0);
  expect(skippedSeconds(encodePlan({ lead: 60, firstFrame: 1500 }))).toBe(60);
  expect(skippedSeconds(encodePlan({ lead: 60, firstFrame: 1500, reading: { seek: 56 } }))).toBe(4);
});
