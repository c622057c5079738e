import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { countWords, happeningsAfter } from './happenings.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 10, 30, hour)).toISOString();

function video(id: string, members: Partial<Video>): Video {
  return { id, uploadedAt: null, readyAt: null, updatedAt: at(1), status: 'uploading', ...members } as Video;
}

test('videos that are ready or have failed are listed, the latest first', () => {
  const videos = [
    video('waits', { updatedAt: at(9) }),
    video('runs', { status: 'processing', uploadedAt: at(9) }),
    video('ready', { status: 'ready', uploadedAt: at(7), readyAt: at(11) }),
    video('ready-before', { status: 'ready', uploadedAt: at(5), readyAt: at(6), updatedAt: at(9) }),
    video('uploaded-before', { status: 'ready', uploadedAt: at(5), readyAt: at(10) }),
    video('failed', { status: 'failed', uploadedAt: at(7), updatedAt: at(8) }),
    video('failed-before', { status: 'failed', uploadedAt: at(5), updatedAt: at(6) }),
  ];
  const { list, counts } = happeningsAfter(videos, Date.parse(at(6)));
  expect(list.map(({ video: { id }, what, at: time }) => [id, what, time])).toEqual([
    ['ready', 'ready', at(11)],
    ['uploaded-before', 'ready', at(10)],
    ['failed', 'failed', at(8)],
  ]);
  expect(counts).toEqual({ uploaded: 3, ready: 2, failed: 1 });
});

test('counts are words', () => {
  expect(countWords({ uploaded: 3, ready: 0, failed: 1 }, false)).toEqual(['3 uploaded', '1 failed']);
  expect(countWords({ uploaded: 50, ready: 49, failed: 0 }, true)).toEqual(['50+ uploaded', '49+ ready']);
  expect(countWords({ uploaded: 0, ready: 0, failed: 0 }, true)).toEqual([]);
});
