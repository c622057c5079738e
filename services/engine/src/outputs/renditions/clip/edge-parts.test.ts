import { describe, expect, test } from '@jest/globals';
import type { ClipJob } from '../../kinds.ts';
import type { Edge } from './clip-job.ts';
import { edgeParts } from './edge-parts.ts';

/** A clip of 25 frames a second that begins at frame 50 of its parent. */
const JOB = {
  plan: { encode: { frameRate: { numerator: 25, denominator: 1 } } },
  work: { firstFrame: 50 },
  parent: { startTimestamp: 900_000 },
} as ClipJob;

/** Groups that begin at frames of the parent. The last one has as many frames as the first. */
const groupsAt = (frames: readonly number[], units: number) =>
  frames.map((frame, at) => ({ start: 10 + frame / 25, units, segment: Buffer.from([at]) }));

const partsOf = (
  edge: Pick<Edge, 'firstFrame' | 'frames'>,
  groups: ReturnType<typeof groupsAt>,
  frameStep: 1 | 2 = 1,
) =>
  edgeParts(JOB, { sequence: 0, parentSequence: 0, ...edge }, { frameStep }, groups).map(
    ({ firstFrame, frames, group, isWhole }) => [group[0], firstFrame, frames, isWhole],
  );

describe('the parts of an edge', () => {
  const groups = groupsAt([0, 40, 80], 40);

  test.each([
    [
      'from within a group',
      { firstFrame: 0, frames: 70 },
      [
        [1, 0, 30, false],
        [2, 30, 40, true],
      ],
    ],
    ['from the beginning of a group', { firstFrame: 30, frames: 40 }, [[2, 30, 40, true]]],
    [
      'to within a group',
      { firstFrame: -10, frames: 50 },
      [
        [1, -10, 40, true],
        [2, 30, 10, false],
      ],
    ],
    ['within a group', { firstFrame: 32, frames: 1 }, [[2, 32, 1, false]]],
    [
      'of two groups',
      { firstFrame: 0, frames: 31 },
      [
        [1, 0, 30, false],
        [2, 30, 1, false],
      ],
    ],
    [
      'of all',
      { firstFrame: -50, frames: 120 },
      [
        [0, -50, 40, true],
        [1, -10, 40, true],
        [2, 30, 40, true],
      ],
    ],
  ])('%s', (_, edge, expected) => {
    expect(partsOf(edge, groups)).toEqual(expected);
  });

  test('with half the frames, the last of which stands for one', () => {
    expect(partsOf({ firstFrame: 30, frames: 39 }, groupsAt([0, 40, 80], 20), 2)).toEqual([
      [2, 30, 39, true],
    ]);
    expect(partsOf({ firstFrame: 30, frames: 38 }, groupsAt([0, 40, 80], 20), 2)).toEqual([
      [2, 30, 38, false],
    ]);
  });
});
