import { expect, test } from '@jest/globals';
import { ChangeScan } from './change-scan.ts';

/** A file that begins at second 10, with a key frame of 1,000 bytes every `keySeconds` and four frames a second. */
function scan({
  seconds,
  keySeconds,
  bytes,
  ...times
}: {
  seconds: number;
  keySeconds: number;
  bytes: number;
  pts?: number;
}) {
  const changes = new ChangeScan(10);
  for (let at = 0; at < 4 * seconds; at += 1) {
    const time = 10 + at / 4;
    const isKey = at % (4 * keySeconds) === 0;
    changes.add({ pts: time, dts: time, bytes: isKey ? 1000 : bytes, isKey, isHidden: false, ...times });
  }
  return [...changes.result()];
}

test('frames between key frames count as parts of a key frame, whatever their size', () => {
  expect(scan({ seconds: 3, keySeconds: 3, bytes: 250 })).toEqual([
    [0, 0.75],
    [1, 1],
    [2, 1],
  ]);
  expect(scan({ seconds: 2, keySeconds: 2, bytes: 1 })).toEqual([
    [0, expect.closeTo(0.003)],
    [1, expect.closeTo(0.004)],
  ]);
});

test('key frames count if they are so close that they may be cuts', () => {
  expect(scan({ seconds: 2, keySeconds: 1, bytes: 0 })).toEqual([
    [0, 0],
    [1, 1],
  ]);
  expect(scan({ seconds: 4, keySeconds: 2, bytes: 0 }).map(([, pictures]) => pictures)).toEqual([0, 0, 0, 0]);
  expect(scan({ seconds: 2, keySeconds: 0.25, bytes: 0 }).map(([, pictures]) => pictures)).toEqual([3, 4]);
});

test('frames before the first key frame count as whole pictures', () => {
  const changes = new ChangeScan(0);
  changes.add({ pts: 0, dts: 0, bytes: 10, isKey: false, isHidden: false });
  expect([...changes.result()]).toEqual([[0, 1]]);
});

test('hidden frames do not count, but others refer to them', () => {
  const changes = new ChangeScan(0);
  changes.add({ pts: -1, dts: -1, bytes: 1000, isKey: true, isHidden: true });
  changes.add({ pts: -0.5, dts: -0.5, bytes: 500, isKey: false, isHidden: true });
  changes.add({ pts: 0, dts: 0, bytes: 100, isKey: false, isHidden: false });
  expect([...changes.result()]).toEqual([[0, 0.1]]);
});

test('without a presentation timestamp, that of decoding counts, or the last one', () => {
  expect(scan({ seconds: 2, keySeconds: 2, bytes: 0, pts: Number.NaN })).toEqual([
    [0, 0],
    [1, 0],
  ]);
  const changes = new ChangeScan(0);
  changes.add({ pts: 5, dts: 5, bytes: 100, isKey: true, isHidden: false });
  changes.add({ pts: Number.NaN, dts: Number.NaN, bytes: 50, isKey: false, isHidden: false });
  expect([...changes.result()]).toEqual([[5, 0.5]]);
});
