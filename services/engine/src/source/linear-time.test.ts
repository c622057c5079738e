import { requireLinearTime } from '@framelane/test-kit/growth';
import { test } from '@jest/globals';
import { AudioScan } from './audio-scan.ts';
import { GopScan } from './gop-scan.ts';
import { KeyFrameScan } from './key-frame-scan.ts';
import { PacketRuns } from './packet-runs.ts';
import { PacketTimeline } from './packet-timeline.ts';
import { StreamClock } from './stream-clock.ts';
import { TrackArrivals } from './track-arrivals.ts';

const RATE = 60;

/** Nine minutes of video. Twelve hours of all tracks may have many times as many packets. */
const PACKETS = 2 ** 15;

type Times = { pts: number; dts: number };

/** Reads packets as the probe does. */
function readPackets(count: number, timesOf: (at: number) => Times, isHidden: (at: number) => boolean): void {
  const declared = { numerator: RATE, denominator: 1 };
  const timeline = new PacketTimeline(0, declared, true);
  const scans = [new GopScan(0, RATE), new KeyFrameScan(0), new PacketRuns(0)];
  const audio = new AudioScan(0, 48_000);
  const clock = new StreamClock([0]);
  const arrivals = new TrackArrivals(0);
  for (let at = 0; at < count; at += 1) {
    const times = timesOf(at);
    const position = { duration: 1 / RATE, at: at * 100, bytes: 100 };
    // A stream may add tracks at any time.
    arrivals.add(at, times.pts, position.at);
    clock.correction({ index: at % 2 === 0 ? 0 : at, ...times, ...position });
    const flags = { isHidden: isHidden(at), hasNewDescription: false };
    audio.add(times.pts, position.bytes, flags);
    if (flags.isHidden) timeline.addHidden(times.pts);
    else timeline.add(times.pts, times.dts, position.duration);
    for (const scan of scans) scan.add({ ...times, ...position, ...flags, isKey: at % 24 === 0 });
  }
  timeline.result();
  audio.result();
  for (const scan of scans) if ('result' in scan) scan.result();
}

const regular = (at: number) => ({ pts: at / RATE, dts: at / RATE });
const never = () => false;

test.each<[string, (at: number) => Times, (at: number) => boolean]>([
  ['regular times', regular, never],
  ['descending times', (at) => ({ pts: -at / RATE, dts: at / RATE }), never],
  ['a clock that restarts', (at) => regular((at % 7) * 1000), never],
  ['hidden packets', regular, (at) => at % 2 === 0],
])('packets with %s are read in linear time', async (_, timesOf, isHidden) => {
  await requireLinearTime(
    PACKETS,
    (count) => count,
    (count) => readPackets(count, timesOf, isHidden),
  );
});
