/**
 * Edit lists. `EDIT_LISTS=200` tests two hundred random ones, and another `PROPERTY_SEED` others. A failure names its seed;
 * `EDIT_LISTS=1 PROPERTY_SEED=<seed>` repeats it.
 */
import { join } from 'node:path';
import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import { Random, testSeed } from '@framelane/test-kit/random';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { toFraction } from '../../src/source/frame-rate.ts';
import { isSound } from '../../src/source/probe.ts';
import type { Edit } from '../support/edit-lists.ts';
import {
  type ClipName,
  EditedClip,
  frameChecksums,
  heardSeconds,
  imageChecksums,
  PITCH_STEP,
  RATE,
  SECONDS,
} from '../support/edited-clips.ts';
import { type EncoderFrame, framesOfPieces, framesOfWhole } from '../support/encoder-frames.ts';
import { TaskBench, type TaskVideo } from '../support/task-bench.ts';

const COUNT = Number(process.env.EDIT_LISTS ?? 4);
const FIRST_SEED = testSeed(1);

jest.setTimeout(120_000 + COUNT * 20_000);

/** Long enough for pieces only if the edits are. */
const PIECE_SECONDS = 5;

let bench: TaskBench;
beforeAll(async () => {
  bench = await TaskBench.start({ preset: 'ultrafast' });
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

type Lists = { video: readonly Edit[]; audio: readonly Edit[] };

/** A clip with edit lists, as a stored source. */
async function storeEdited(name: ClipName, { video, audio }: Lists): Promise<TaskVideo> {
  const clip = await EditedClip.make(name, inBench('clip.mp4'));
  await clip.write(inBench('edited.mp4'), { video, audio });
  return bench.store(inBench('edited.mp4'));
}

/** What the engine makes of a clip with edit lists. */
async function measure(name: ClipName, lists: Lists) {
  const clip = await EditedClip.make(name, inBench('clip.mp4'));
  const stored = await storeEdited(name, lists);
  const planned = await bench.plan(stored, PIECE_SECONDS, false);
  const { encode: plan, tasks } = planned.plan;
  const pieces = tasks.filter((task): task is PieceTask => task.kind === 'piece');
  return bench.withSource(stored, async (directory) => {
    const ofPieces = await bench.withPieceInputs(stored, directory, pieces, async (inputs) =>
      inputs.length > 0 ? framesOfPieces(plan, inputs) : [],
    );
    return {
      source: planned.source,
      plan,
      /** The numbers of the frames that enter the encoder in one run, and in the runs of the pieces. */
      frames: clip.numbersOf(checksumsOf(await framesOfWhole(directory, plan))),
      inPieces: pieces.length > 0 ? clip.numbersOf(ofPieces.flatMap(checksumsOf)) : null,
      displayed: clip.numbersOf(await frameChecksums(inBench('edited.mp4'))),
      heard: await heardSeconds(directory, plan),
    };
  });
}

function checksumsOf(frames: ReadonlyMap<string, readonly EncoderFrame[]>): string[] {
  return [...frames.values()].flat().map(({ checksum }) => checksum);
}

/** A part of the clip. Times are in seconds of the presentation, except `from`, which is one of the clip. */
type Part = { at: number; until: number; from: number };

function partsOf(edits: readonly Edit[]): Part[] {
  let at = 0;
  return edits.flatMap(({ from, lasts }) => {
    const begin = at;
    at += lasts;
    // 0 stands for all, in fragments.
    return from === null ? [] : [{ at: begin, from, until: begin + (lasts || SECONDS - from) }];
  });
}

/** Whether a second of the clip is what is presented at a time. */
function isPresented(second: number, time: number, parts: readonly Part[], tolerance: number): boolean {
  return parts.some(({ at, until, from }) => {
    const isNow = time > at - tolerance && time < until + tolerance;
    return isNow && Math.abs(from + time - at - second) < tolerance;
  });
}

/** ffmpeg moves an edit after the first one by up to three frames if there are B-frames, and loses up to two frames of its audio (measured). */
const JOIN_TOLERANCE = 0.17;

/** If an empty edit follows the video, it ends up to three frames early. */
const END_TOLERANCE = JOIN_TOLERANCE + 3 / RATE;

/** What is wrong with the frames and the audio of a clip with edit lists. */
async function complaints(name: ClipName, lists: Lists): Promise<string[]> {
  const { source, plan, frames, inPieces, displayed, heard } = await measure(name, lists);
  if (isSound(source)) throw new Error('The clip has no video');
  const { cut } = source.timeline;
  const [seen, audible] = [partsOf(lists.video), partsOf(lists.audio)];
  const start = seen[0]?.at ?? 0;
  const origin = Math.min(start, audible[0]?.at ?? 0) + plan.lead - cut;
  const duration = (seen.at(-1)?.until ?? 0) - origin;
  const endsEarly = lists.video.at(-1)?.from === null;
  const isSingle = seen.length === 1 && !endsEarly;
  const endTolerance = isSingle ? 0.05 : JOIN_TOLERANCE;
  const wrong = frames.filter((number, at) => {
    const time = Math.max(start, at / RATE + origin);
    return !isPresented(number / RATE, time, seen, isSingle ? 0.07 : JOIN_TOLERANCE);
  });
  const unheard = heard.filter((second, at) => {
    const time = (at + 1) * PITCH_STEP + origin;
    const isNearCut = audible.some((part) =>
      [part.at, part.until].some((end) => Math.abs(time - end) < 0.15),
    );
    if (isNearCut) return false;
    return Number.isNaN(second)
      ? audible.some((part) => time > part.at && time < part.until)
      : !isPresented(second, time, audible, audible.length === 1 ? 0.03 : JOIN_TOLERANCE);
  });
  const found: [boolean, string][] = [
    [wrong.length > 0, `${wrong.length} wrong frames: ${wrong.slice(0, 5)}`],
    [unheard.length > 0, `${unheard.length} wrong tones: ${unheard.slice(0, 5)}`],
    [frames.length !== plan.frames, `${frames.length} of ${plan.frames} frames`],
    [
      Math.abs(plan.duration - duration) > (endsEarly ? END_TOLERANCE : endTolerance),
      `${plan.duration} seconds, not ${duration}`,
    ],
    // ffmpeg displays what edit lists of fragments and of AV1 hide, and the beginning of a track in an empty edit at its end. With a lead, its times are not those of the plan.
    [
      name !== 'in AV1' && !endsEarly && cut === 0 && plan.lead === 0 && !isEqual(frames, displayed),
      `not as displayed: ${displayed.length} frames`,
    ],
    [inPieces !== null && !isEqual(frames, inPieces), 'pieces differ'],
    [plan.inputIssues.length > 0, JSON.stringify(plan.inputIssues)],
  ];
  return found.filter(([isWrong]) => isWrong).map(([, what]) => what);
}

/** Whether the same frames are shown. The last one may be longer. */
function isEqual(frames: readonly number[], displayed: readonly number[]): boolean {
  return (
    Math.abs(frames.length - displayed.length) <= 1 &&
    displayed.every((number, at) => at >= frames.length || number === frames[at])
  );
}

const KINDS: readonly ClipName[] = ['without B-frames', 'with B-frames', 'with open GOPs', 'in fragments'];

function randomLists(random: Random, name: ClipName): Lists {
  const start = () => random.fraction() * (SECONDS - 2);
  if (name === 'in fragments') {
    const from = start();
    const whole = (begin: number): Edit[] => [{ from: begin, lasts: 0 }];
    return random.pick([
      { video: whole(from), audio: whole(from) },
      { video: whole(from), audio: whole(start()) },
      { video: whole(from), audio: whole(0) },
      { video: whole(0), audio: whole(from) },
    ]);
  }
  const list = (): Edit[] => {
    const wait = random.below(3) === 0 ? [{ from: null, lasts: 0.04 + random.fraction() }] : [];
    const count = 1 + random.below(4);
    const edits = Array.from({ length: count }, () => {
      const from = count === 1 ? 8 * random.fraction() : start();
      const longest = Math.min(SECONDS - from, count === 1 ? SECONDS : 6);
      return { from, lasts: 0.4 + random.fraction() * (longest - 0.4) };
    });
    const rest = random.below(3) === 0 ? [{ from: null, lasts: 0.04 + 3 * random.fraction() }] : [];
    return [...wait, ...edits, ...rest];
  };
  const video = list();
  return { video, audio: random.below(2) === 0 ? video : list() };
}

test('frames and audio are those that random edit lists show', async () => {
  const found: string[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed += 1) {
    const random = new Random(seed);
    const name = KINDS[seed % KINDS.length] as ClipName;
    const lists = randomLists(random, name);
    const wrong = await complaints(name, lists);
    if (wrong.length > 0) found.push(`seed ${seed}, ${name}, ${JSON.stringify(lists)}: ${wrong.join('; ')}`);
  }
  expect(found).toEqual([]);
});

const both = (edits: readonly Edit[]): Lists => ({ video: edits, audio: edits });

test.each<[string, ClipName, Lists]>([
  ['a part between two key frames, in pieces', 'with open GOPs', both([{ from: 3.3, lasts: 17 }])],
  [
    'a part in reverse order',
    'with B-frames',
    both([
      { from: 12, lasts: 2 },
      { from: 3, lasts: 2 },
    ]),
  ],
  [
    'a part twice',
    'without B-frames',
    both([
      { from: 5.1, lasts: 2 },
      { from: 5.1, lasts: 2 },
    ]),
  ],
  [
    'fragments whose audio alone begins later',
    'in fragments',
    { video: [{ from: 0, lasts: 0 }], audio: [{ from: 3.3, lasts: 0 }] },
  ],
  [
    'audio that ends early',
    'with B-frames',
    {
      video: [{ from: 0, lasts: 12 }],
      audio: [
        { from: 1, lasts: 4 },
        { from: null, lasts: 8 },
      ],
    },
  ],
  [
    'video that ends before the file',
    'with B-frames',
    {
      video: [
        { from: 1, lasts: 11 },
        { from: null, lasts: 4 },
      ],
      audio: [{ from: 0, lasts: 15 }],
    },
  ],
  ['a part without a rate', 'with B-frames', both([{ from: 1, lasts: 5, rate: 0 }])],
  ['a part of AV1, whose decoder shows hidden frames', 'in AV1', both([{ from: 3.3, lasts: 17 }])],
])('an edit list shows %s', async (_, name, lists) => {
  expect(await complaints(name, lists)).toEqual([]);
});

test.each<[ClipName, number]>([
  ['in fragments', 0],
  ['in AV1', 10],
])('images of a clip %s are chosen from displayed frames only', async (name, lasts) => {
  const clip = await EditedClip.make(name, inBench('clip.mp4'));
  const edits = [{ from: 5.3, lasts }];
  const stored = await storeEdited(name, both(edits));
  const { encode } = (await bench.plan(stored, PIECE_SECONDS, false)).plan;
  const checksums = await bench.withSource(stored, (directory) => imageChecksums(directory, encode));
  const numbers = clip.numbersOf(checksums);
  expect(numbers.length).toBeGreaterThan(3);
  const [part] = partsOf(edits);
  expect(
    numbers.filter((number) => number / RATE < 5.3 || number / RATE >= 5.3 + (part?.until ?? 0)),
  ).toEqual([]);
});

test('an edit list with cuts between frames does not change the frame rate', async () => {
  const edits = [
    { from: 0.5, lasts: 1.01 },
    { from: 4.3, lasts: 1.02 },
    { from: 2.1, lasts: 0.99 },
  ];
  const stored = await storeEdited('at 29.97 frames a second', both(edits));
  const { encode: plan } = (await bench.plan(stored, PIECE_SECONDS)).plan;
  expect(toFraction(plan.frameRate)).toBe('30000/1001');
  expect(plan.inputIssues).toEqual([]);
  expect(Math.abs(plan.duration - 3.02)).toBeLessThan(0.04);
});

const gap = [
  { from: 0, lasts: 2 },
  { from: null, lasts: 1 },
  { from: 3, lasts: 2 },
];

test('audio with a gap in its edit list is left out', async () => {
  const stored = await storeEdited('with B-frames', { video: [{ from: 0, lasts: 5 }], audio: gap });
  const { encode: plan } = (await bench.plan(stored, PIECE_SECONDS)).plan;
  expect(plan.audio).toEqual([]);
  expect(plan.inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 2 (audio, aac) was left out: its edit list has a gap.' },
  ]);
});

describe('a file is refused if the edit list of the video', () => {
  const usual = [{ from: 0, lasts: 5 }];
  test.each<[string, ClipName, Lists, RegExp]>([
    [
      'has a gap',
      'with B-frames',
      { video: gap, audio: usual },
      /^The edit list of track 1 \(video, h264\) has a gap/,
    ],
    [
      'changes the speed',
      'with B-frames',
      both([{ from: 0, lasts: 5, rate: 0.5 }]),
      /^The edit list of track 1 \(video, h264\) changes the speed/,
    ],
    [
      'joins parts of fragments',
      'in fragments',
      both([...usual, { from: 10, lasts: 5 }]),
      /^The edit list of track 1 \(video, h264\) has several parts, and the file is fragmented/,
    ],
    ['joins parts of AV1', 'in AV1', both([...usual, { from: 10.5, lasts: 5 }]), /not supported for AV1/],
    [
      'delays a part of AV1',
      'in AV1',
      {
        video: [
          { from: null, lasts: 1 },
          { from: 10.5, lasts: 5 },
        ],
        audio: usual,
      },
      /not supported for AV1/,
    ],
    ['shows nothing', 'with B-frames', both([{ from: 1, lasts: 0 }]), /shows none of its frames/],
  ])('%s', async (_, name, lists, message) => {
    const stored = await storeEdited(name, lists);
    await expect(bench.plan(stored, PIECE_SECONDS)).rejects.toMatchObject({
      code: 'malformed_media',
      retryable: false,
      message: expect.stringMatching(message),
    });
  });
});
