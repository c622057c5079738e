import { expect, test } from '@jest/globals';
import { pauseMs, resumablePermit } from './resumable-upload.ts';

test('the default retries take three to six minutes; pauses last up to a minute, and half of each is random', () => {
  const failures = Array.from({ length: 12 }, (_, index) => index);
  const total = (random: number) =>
    failures.reduce((ms, each) => ms + pauseMs(each, () => random), 0) / 60_000;
  expect(total(0)).toBeGreaterThan(3);
  expect(total(1)).toBeLessThan(6.1);
  expect([pauseMs(0, () => 0), pauseMs(0, () => 1)]).toEqual([250, 500]);
  expect(pauseMs(100, () => 1)).toBe(60_000);
});

test('files above a size are resumable, if the permit has `tusUrl` and `videoId`', () => {
  const permit = {
    uploadUrl: 'http://a/upload',
    uploadToken: 't',
    tusUrl: 'http://a/files',
    videoId: 'vid_1',
  };
  const isResumable = (size: number | null, resumableAbove?: number) =>
    resumablePermit(size, permit, { resumableAbove }) !== undefined;
  expect([64 * 1024 ** 2, 64 * 1024 ** 2 + 1].map((size) => isResumable(size))).toEqual([false, true]);
  expect([0, 1, null].map((size) => isResumable(size, 0))).toEqual([false, true, false]);
  const { tusUrl: _tusUrl, ...withoutTusUrl } = permit;
  const { videoId: _videoId, ...withoutVideoId } = permit;
  for (const incomplete of [withoutTusUrl, withoutVideoId])
    expect(resumablePermit(1, incomplete, { resumableAbove: 0 })).toBe(undefined);
});
