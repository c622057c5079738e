import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { videoPollInterval } from './live.ts';

const videos = (...statuses: Video['status'][]) => statuses.map((status) => ({ status, downloads: [] }));

test('polls often only while a video is in progress', () => {
  expect(videoPollInterval(videos('ready', 'processing'))).toBe(2_000);
  expect(videoPollInterval(videos('uploading'))).toBe(2_000);
  expect(videoPollInterval(videos('ready', 'failed'))).toBe(15_000);
  expect(videoPollInterval([])).toBe(15_000);
});

test('polls often while a download is prepared', () => {
  const withDownload = (status: 'preparing' | 'ready') =>
    ({ status: 'ready', downloads: [{ status }] }) as Pick<Video, 'status' | 'downloads'>;
  expect(videoPollInterval([withDownload('preparing')])).toBe(2_000);
  expect(videoPollInterval([withDownload('ready')])).toBe(15_000);
});
