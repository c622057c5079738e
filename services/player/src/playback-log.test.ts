import { expect, test } from '@jest/globals';
import { PlaybackLog } from './playback-log.ts';

const HD = { height: 720, rate: 1 };

/** A log of a playback that has started after 300 ms. */
function started(): PlaybackLog {
  const log = new PlaybackLog();
  log.requested(1000);
  log.playing(1300);
  log.moved(0, HD);
  return log;
}

test('nothing is watched at first', () => {
  expect(new PlaybackLog().report()).toEqual({ watched: [], watchSeconds: 0, stalls: 0, stallSeconds: 0 });
});

test('the start takes until the first frame, and is measured once', () => {
  const log = started();
  log.requested(5000);
  log.playing(9000);
  expect(log.report().startupSeconds).toBe(0.3);
});

test('a start without a request takes no time', () => {
  const log = new PlaybackLog();
  log.playing(5000);
  expect(log.report().startupSeconds).toBe(0);
});

test('what is played in a row is one range; a jump and another size begin the next', () => {
  const log = started();
  for (const position of [0.25, 0.5, 1.004]) log.moved(position, HD);
  log.jumped();
  for (const position of [10, 11]) log.moved(position, HD);
  log.moved(12, { height: 1080, rate: 1 });
  expect(log.report()).toMatchObject({
    watched: [
      { from: 0, to: 1, height: 720 },
      { from: 10, to: 11, height: 720 },
      { from: 11, to: 12, height: 1080 },
    ],
    watchSeconds: 3,
  });
});

test('sound alone has no height', () => {
  const log = started();
  log.moved(5, { height: 0, rate: 1 });
  expect(log.report().watched).toEqual([{ from: 0, to: 5 }]);
});

test('the time watched is that of the viewer, also at another speed', () => {
  const log = started();
  log.moved(10, { height: 720, rate: 2 });
  expect(log.report()).toMatchObject({ watched: [{ from: 0, to: 10 }], watchSeconds: 5 });
});

test('what is watched twice counts twice in time', () => {
  const log = started();
  log.moved(2, HD);
  log.jumped();
  log.moved(0, HD);
  log.moved(2, HD);
  expect(log.report()).toMatchObject({ watchSeconds: 4, watched: [{ to: 2 }, { from: 0, to: 2 }] });
});

test('a step back without a jump counts for nothing', () => {
  const log = started();
  log.moved(5, HD);
  log.moved(3, HD);
  log.moved(4, HD);
  expect(log.report().watchSeconds).toBe(6);
});

test('missing data is a stall after the first frame only, and once until it plays again', () => {
  const log = new PlaybackLog();
  log.requested(0);
  log.stalled(100);
  log.playing(200);
  log.stalled(1000);
  log.stalled(1500);
  log.playing(3000);
  expect(log.report()).toMatchObject({ stalls: 1, stallSeconds: 2 });
});

test('a jump ends a stall, and the wait for the new position is none', () => {
  const log = started();
  log.stalled(2000);
  log.jumped();
  log.playing(9000);
  expect(log.report()).toMatchObject({ stalls: 1, stallSeconds: 0 });
});

test('the worst failure is reported', () => {
  const log = started();
  log.failed('interrupted');
  expect(log.report().error).toBe('interrupted');
  log.failed('unsupported');
  log.failed('interrupted');
  expect(log.report().error).toBe('unsupported');
});

test('a report has at most 60 ranges, the latest', () => {
  const log = started();
  for (let index = 1; index <= 70; index++) {
    log.jumped();
    log.moved(index * 10, HD);
    log.moved(index * 10 + 1, HD);
  }
  const { watched } = log.report();
  expect(watched).toHaveLength(60);
  expect(watched.at(-1)?.from).toBe(700);
});

test('after a restart, the totals begin again where the playback is, and the start is not reported again', () => {
  const log = started();
  log.moved(1, HD);
  log.stalled(2000);
  log.failed('interrupted');
  log.restart();
  log.playing(9000);
  log.moved(2, HD);
  expect(log.report()).toEqual({
    watched: [{ from: 1, to: 2, height: 720 }],
    watchSeconds: 1,
    stalls: 0,
    stallSeconds: 0,
  });
});

test('a restart before the start does not hide it', () => {
  const log = new PlaybackLog();
  log.restart();
  log.requested(1000);
  log.playing(1500);
  expect(log.report().startupSeconds).toBe(0.5);
});
