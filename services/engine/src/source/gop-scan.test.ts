import { describe, expect, test } from '@jest/globals';
import { GopScan, type VideoPacket } from './gop-scan.ts';

const RATE = 25;

/** Frame numbers in storage order; `K` marks key frames. */
function scan(
  stored: string,
  change: (packet: VideoPacket, at: number) => Partial<VideoPacket> = () => ({}),
) {
  const gops = new GopScan(10, RATE);
  for (const [at, frame] of stored.split(' ').entries()) {
    const packet = {
      pts: 10 + Number.parseInt(frame, 10) / RATE,
      dts: 10 + (at - 2) / RATE,
      bytes: 100,
      isKey: frame.endsWith('K'),
      isHidden: false,
      hasNewDescription: false,
    };
    gops.add({ ...packet, ...change(packet, at) });
  }
  return gops.result();
}

const every = (distance: number, frames: number) =>
  Array.from({ length: frames }, (_, number) => `${number}${number % distance === 0 ? 'K' : ''}`).join(' ');

describe('groups of pictures', () => {
  test('begin at key frames, in any storage order of their frames', () => {
    expect(scan('0K 3 1 2 4K 5 7 6')).toEqual([
      { start: 0, duration: 0.16, bytes: 400 },
      { start: 0.16, duration: 0.16, bytes: 400 },
    ]);
  });

  test('may be large', () => {
    const rate = 90_000;
    const gops = new GopScan(0, rate);
    const frames = 300_000;
    for (let at = 0; at <= frames; at += 1) {
      const time = at / rate;
      const flags = { isKey: at % frames === 0, isHidden: false, hasNewDescription: false };
      gops.add({ pts: time, dts: time, bytes: 1, ...flags });
    }
    expect(gops.result()).toHaveLength(2);
  });

  test.each([
    ['a frame that is stored after its key frame and displayed before it', '0K 1 2 5K 3 4 6', 'open_gop'],
    ['a missing frame', '0K 1 3 4K 5', 'irregular'],
    ['a duplicate frame', '0K 1 1 3K 4', 'irregular'],
    ['no key frame at the start', '0 1 2K 3', 'irregular'],
    ['a start later than that of the file', '1K 2 3', 'irregular'],
    ['key frames too far apart', every(163, 200), 'sparse_key_frames'],
    ['a missing frame at the end of the file', '0K 1 2K 3 5', 'irregular'],
    ['a frame with a time of the previous group', '0K 1 2 3K 2', 'open_gop'],
    ['nothing but key frames', every(1, 40), 'dense_key_frames'],
    ['many key frames 0.36 s apart', every(9, 1200), 'dense_key_frames'],
  ])('with %s have a flaw', (_, stored, flaw) => {
    expect(scan(stored)).toBe(flaw);
  });

  test('may be short if they are few, or 0.4 s on average', () => {
    expect(scan(every(1, 10))).toHaveLength(10);
    expect(scan(every(10, 1200))).toHaveLength(120);
  });

  test('do not exist without frames', () => {
    expect(new GopScan(0, RATE).result()).toEqual([]);
  });

  test('report the first flaw', () => {
    expect(scan('0K 1 3 2 4K 5 9 10K', (_, at) => (at === 2 ? { isHidden: true } : {}))).toBe(
      'hidden_frames',
    );
  });

  test('may be as long as the longest segment', () => {
    expect(scan(every(162, 200))).toHaveLength(2);
  });

  test.each([
    ['a frame decoded after its presentation', { dts: 10.0801 }, 'unordered'],
    ['two frames decoded at the same time', { dts: 10 - 1 / RATE }, 'unordered'],
    ['a frame off the grid of the frame rate', { pts: 10.0801 }, 'irregular'],
    ['a frame without a presentation timestamp', { pts: Number.NaN }, 'unordered'],
    ['a frame without a decoding timestamp', { dts: Number.NaN }, 'unordered'],
    ['decoding timestamps that go back', { dts: 9.9 }, 'unordered'],
    ['a frame that is not displayed', { isHidden: true }, 'hidden_frames'],
    ['another description of the track', { hasNewDescription: true }, 'parameter_sets'],
  ])('with %s have a flaw', (_, change, flaw) => {
    expect(scan('0K 1 2 3', (_packet, at) => (at === 2 ? change : {}))).toBe(flaw);
  });
});
