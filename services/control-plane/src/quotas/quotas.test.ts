import { PROBLEMS } from '@framelane/contracts/problem-codes';
import { Problem } from '@framelane/service-kit/problem';
import { describe, expect, test } from '@jest/globals';
import {
  type Quotas,
  requireFileSize,
  requireRoomForVideo,
  toLimits,
  UNLIMITED,
  type Used,
} from './quotas.ts';

const NOTHING: Used = {
  storedBytes: 0,
  reservedBytes: 0,
  unpurgedBytes: 0,
  transcodedMs: 0,
  videos: 0,
  uploads: 0,
};

/** The figures and the message of the refusal; null if there is room. */
function refusal(quotas: Partial<Quotas>, used: Partial<Used>, bytes: number | null = null) {
  try {
    requireRoomForVideo({ ...UNLIMITED, ...quotas }, { ...NOTHING, ...used }, bytes);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(PROBLEMS[error.code].status).toBe(403);
    return { ...error.options.extra, message: error.message };
  }
}

test('room that is left once ended uploads are purged is a reason to retry', () => {
  const quotas = { ...UNLIMITED, storedBytes: 100 };
  const used = { ...NOTHING, storedBytes: 50, reservedBytes: 20, unpurgedBytes: 20 };
  const check = (bytes: number) => () => requireRoomForVideo(quotas, used, bytes);
  expect(check(10)).not.toThrow();
  expect(check(11)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(check(30)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(check(31)).toThrow(expect.objectContaining({ code: 'quota_exceeded' }));
});

describe('room for a video', () => {
  test('is unlimited without quotas', () => {
    expect(
      refusal({}, { storedBytes: 1e15, transcodedMs: 1e15, videos: 1e9, uploads: 1e9 }, 1e15),
    ).toBeNull();
  });

  test.each<[string, Partial<Quotas>, Partial<Used>, number | null]>([
    ['the last bytes', { storedBytes: 100 }, { storedBytes: 50, reservedBytes: 40 }, 10],
    ['the last byte, of an unknown size', { storedBytes: 100 }, { storedBytes: 99 }, null],
    ['the last milliseconds of the month', { transcodedMinutes: 1 }, { transcodedMs: 59_969 }, null],
    ['the last video', { videos: 1 }, { videos: 0 }, null],
    ['the last upload', { uploads: 2 }, { uploads: 1 }, null],
    ['a file of the largest size', { fileBytes: 10 }, {}, 10],
    ['a file of an unknown size', { fileBytes: 10 }, {}, null],
  ])('is left for %s', (_, quotas, used, bytes) => {
    expect(refusal(quotas, used, bytes)).toBeNull();
  });

  test.each<[Partial<Quotas>, Partial<Used>, number | null, object]>([
    [
      { storedBytes: 100 },
      { storedBytes: 50, reservedBytes: 40 },
      11,
      { quota: 'storedBytes', limit: 100, used: 90, requested: 11 },
    ],
    [{ storedBytes: 0 }, {}, null, { quota: 'storedBytes', limit: 0, used: 0, requested: null }],
    [
      { transcodedMinutes: 1 },
      { transcodedMs: 59_970 },
      5,
      { quota: 'transcodedMinutes', limit: 1, used: 1, requested: null },
    ],
    [{ videos: 1 }, { videos: 1 }, null, { quota: 'videos', limit: 1, used: 1, requested: 1 }],
    [{ uploads: 1 }, { uploads: 2 }, null, { quota: 'uploads', limit: 1, used: 2, requested: 1 }],
    [{ fileBytes: 10 }, {}, 11, { quota: 'fileBytes', limit: 10, used: null, requested: 11 }],
  ])('with %o and %o for %s bytes is missing', (quotas, used, bytes, figures) => {
    expect(refusal(quotas, used, bytes)).toMatchObject(figures);
  });

  test('is missing with a message that has the figures and a remedy', () => {
    expect(refusal({ storedBytes: 100 }, { storedBytes: 90 }, 11)?.message).toBe(
      'This workspace may store 100 bytes (90 in use, 11 requested). Delete videos, or ask the operator for a higher limit.',
    );
    expect(refusal({ transcodedMinutes: 3 }, { transcodedMs: 180_015 })?.message).toBe(
      'This workspace may transcode 3 minutes in a month (3 in use). Wait for the next month (UTC), or ask the operator for a higher limit.',
    );
    expect(refusal({ videos: 5 }, { videos: 5 })?.message).toMatch(
      /^This workspace may have 5 videos \(5 in use, 1 requested\)\. Delete videos/,
    );
    expect(refusal({ uploads: 5 }, { uploads: 5 })?.message).toMatch(
      /^This workspace may have 5 open upload tickets \(5 in use, 1 requested\)\. Wait until a file arrives or a ticket expires, or delete/,
    );
    expect(() => requireFileSize({ ...UNLIMITED, fileBytes: 9 }, 10)).toThrow(
      'This workspace may upload files of 9 bytes (10 requested). Send a smaller file',
    );
  });
});

test('limits are shown with the usage that counts against them', () => {
  const used: Used = {
    storedBytes: 1,
    reservedBytes: 2,
    unpurgedBytes: 7,
    transcodedMs: 61_234,
    videos: 3,
    uploads: 4,
  };
  expect(toLimits({ ...UNLIMITED, storedBytes: 10, fileBytes: 5 }, used)).toEqual({
    storedBytes: { limit: 10, used: 1, reserved: 9 },
    transcodedMinutes: { limit: null, used: 1.021 },
    videos: { limit: null, used: 3 },
    uploads: { limit: null, used: 4 },
    fileBytes: { limit: 5 },
  });
});
