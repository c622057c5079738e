import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { videoPollInterval } from './live.ts';

const videos = (...statuses: Video['status'][]) =>
  statuses.map((status) => ({ status, downloads: [], autoCaptions: [] }));

test('polls often only while a video is in progress', () => {
  expect(videoPollInterval(videos('ready', 'processing'))).toBe(2_000);
  expect(videoPollInterval(videos('uploading'))).toBe(2_000);
  expect(videoPollInterval(videos('ready', 'failed'))).toBe(15_000);
  expect(videoPollInterval([])).toBe(15_000);
});

test('polls often while an output is prepared', () => {
  const ready = { status: 'ready', downloads: [], autoCaptions: [] } as const;
  for (const output of ['downloads', 'autoCaptions'])
    for (const [status, interval] of [
      ['preparing', 2_000],
      ['ready', 15_000],
    ] as const) {
      const video = { ...ready, [output]: [{ status }] } as unknown as Video;
      expect(videoPollInterval([video])).toBe(interval);
    }
});
