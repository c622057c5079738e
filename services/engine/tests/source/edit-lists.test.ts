/**
 * Edit lists. `EDIT_LISTS=200` tests two hundred random ones, and another `PROPERTY_SEED` others. A failure names its seed;
 * `EDIT_LISTS=1 PROPERTY_SEED=<seed>` repeats it.
 */
import { join } from 'node:path';
import { Random, testSeed } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { ExplainedPlan } from '../../src/plan/encode-plan.ts';
import type { ProbedSource } from '../../src/source/probe.ts';
import type { Edit } from '../support/edit-lists.ts';
import {
  EditedClip,
  frameChecksums,
  heardSeconds,
  PITCH_STEP,
  RATE,
  SECONDS,
} from '../support/edited-clips.ts';
import { framesOfPieces, framesOfWhole } from '../support/encoder-frames.ts';
import { TaskBench } from '../support/task-bench.ts';

const COUNT = Number(process.env.EDIT_LISTS ?? 5);
const FIRST_SEED = testSeed(1);

jest.setTimeout(120_000 + COUNT * 20_000);

const CLIPS = {
  'without B-frames': { delay: 0, options: ['-g', '50', '-bf', '0'] },
  'with B-frames': { delay: 2, options: ['-preset', 'veryfast', '-g', '50', '-bf', '2'] },
  'with open GOPs': {
    delay: 2,
    options: [
      '-preset',
      'veryfast',
      '-g',
      '40',
      '-bf',
      '3',
      '-x264-params',
      'open-gop=1:b-pyramid=normal:b-adapt=0',
    ],
  },
  'in fragments': {
    delay: 2,
    options: [
      ...['-preset', 'veryfast', '-g', '50', '-bf', '2'],
      ...['-movflags', '+frag_keyframe+default_base_moof+delay_moov'],
    ],
  },
};
type ClipName = keyof typeof CLIPS;

let bench: TaskBench;
const clips = new Map<ClipName, EditedClip>();
beforeAll(async () => {
  bench = await TaskBench.start({ preset: 'ultrafast' });
});
afterAll(() => bench.stop());

async function clipOf(name: ClipName): Promise<EditedClip> {
  const { delay, options } = CLIPS[name];
  const known = clips.get(name) ?? (await EditedClip.make(join(bench.directory, 'clip.mp4'), delay, options));
  clips.set(name, known);
  return known;
}

type Lists = { video: Edit[]; audio: Edit[] };

/** What becomes of a clip with these edit lists. */
async function resultOf(name: ClipName, { video, audio }: Lists) {
  const clip = await clipOf(name);
  const path = join(bench.directory, 'edited.mp4');
  await clip.write(path, video, audio);
  const stored = await bench.store(path);
  const { source, plan, tasks } = await bench.plan(stored, 6, false);
  return bench.withSource(stored, async (directory) => {
    const whole = checksumsOf(await framesOfWhole(directory, plan));
    const pieces = tasks?.tasks.filter((task) => task.kind === 'piece') ?? [];
    const inputs = pieces.map((piece) => ({ directory, piece }));
    const ofPieces = inputs.length > 0 ? await framesOfPieces(plan, inputs) : [];
    return {
      ...{ source, plan, isCut: pieces.length > 0 },
      whole: clip.numbersOf(whole),
      displayed: clip.numbersOf(await frameChecksums(path)),
      pieces: clip.numbersOf(ofPieces.flatMap(checksumsOf)),
      heard: await heardSeconds(directory, plan),
    };
  });
}

function checksumsOf(frames: Map<string, { checksum: string }[]>): string[] {
  return [...frames.values()].flat().map(({ checksum }) => checksum);
}

/** What an edit list shows, as seconds of the presentation. */
type Shown = { at: number; from: number; until: number };

function shownBy(edits: readonly Edit[]): Shown[] {
  const shown: Shown[] = [];
  let at = 0;
  for (const { from, lasts } of edits) {
    const until = Math.min(at + lasts, at + SECONDS - (from ?? 0));
    if (from !== null) shown.push({ at, from, until });
    at += lasts;
  }
  return shown;
}

/** Whether a measured second of the clip is what an edit list shows at a second of the presentation, or near it. */
function isShown(measured: number, second: number, shown: readonly Shown[], tolerance: number): boolean {
  return shown.some(
    ({ at, from, until }) =>
      second > at - tolerance &&
      second < until + tolerance &&
      Math.abs(measured - (from + second - at)) < tolerance,
  );
}

test('test', async () => {
  const found: unknown[] = [];
  const stats: string[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed += 1) {
    const random = new Random(seed);
    const name = random.pick(Object.keys(CLIPS) as ClipName[]);
    const lists = randomLists(random, name);
    const result = await resultOf(name, lists);
    stats.push(
      `${seed} ${name} ${lists.video.length} cut=${result.isCut} lead=${result.plan.lead} frames=${result.plan.frames} layout=${result.source.layout !== null}`,
    );
    found.push(
      ...complaints(lists, name, result).map((complaint) => ({
        seed,
        name,
        lists: JSON.stringify(lists),
        complaint,
      })),
    );
  }
  if (process.env.SHOW) console.log(stats.join('\n'));
  expect(found).toEqual([]);
});

function randomLists(random: Random, name: ClipName): Lists {
  const list = (count: number): Edit[] => {
    const wait = random.below(3) === 0 ? [{ from: null, lasts: 0.04 + random.fraction() }] : [];
    const edits = Array.from({ length: count }, () => {
      const from = random.fraction() * (SECONDS - 2);
      return { from, lasts: Math.min(SECONDS - from, 0.4 + random.fraction() * (count === 1 ? SECONDS : 6)) };
    });
    return [...wait, ...edits];
  };
  if (name === 'in fragments') {
    const [from] = [random.fraction() * 10];
    return {
      video: [{ from, lasts: 0 }],
      audio: [{ from: random.below(2) === 0 ? from : random.fraction() * 10, lasts: 0 }],
    };
  }
  const video = list(1 + random.below(4));
  return { video, audio: random.below(2) === 0 ? video : list(1 + random.below(4)) };
}

function complaints(
  { video, audio }: Lists,
  name: ClipName,
  {
    source,
    plan,
    whole,
    displayed,
    pieces,
    heard,
    isCut,
  }: {
    source: ProbedSource;
    plan: ExplainedPlan;
    whole: number[];
    displayed: number[];
    pieces: number[];
    heard: number[];
    isCut: boolean;
  },
): string[] {
  const open = (edits: Edit[]) =>
    edits.map((edit) => (edit.lasts === 0 ? { ...edit, lasts: SECONDS } : edit));
  const seen = shownBy(open(video));
  const audible = shownBy(open(audio));
  const origin = Math.min(seen[0]?.at ?? 0, audible[0]?.at ?? 0) + plan.lead - source.timeline.cut;
  const end = (seen.at(-1)?.until ?? 0) - origin;
  const joins = seen.length - 1;
  const found: string[] = [];
  if (Math.abs(plan.frames / RATE - end) > 0.05 + 0.1 * joins)
    found.push(`duration ${plan.frames / RATE}, not ${end}`);
  if (whole.length !== plan.frames) found.push(`${whole.length} frames of ${plan.frames}`);
  if (source.timeline.cut === 0 && plan.lead === 0) {
    const d = whole.filter((number, at) => number !== displayed[at]).length;
    if (d > 1) found.push(`${d} of ${whole.length} frames differ from those displayed ${displayed.length}`);
  }
  if (plan.inputIssues.length > 0) found.push(JSON.stringify(plan.inputIssues));
  const wrong = whole
    .map((number, at) => [at, number] as const)
    .filter(
      ([at, number]) =>
        !isShown(
          number / RATE,
          Math.max(at / RATE + origin, seen[0]?.at ?? 0),
          seen,
          joins === 0 ? 0.07 : 0.17,
        ),
    );
  if (wrong.length > 0) found.push(`${wrong.length} wrong frames: ${JSON.stringify(wrong.slice(0, 5))}`);
  if (isCut && JSON.stringify(pieces) !== JSON.stringify(whole)) found.push('pieces differ');
  const unheard = heard
    .map((second, at) => [(at + 1) * PITCH_STEP, second] as const)
    .filter(([at, second]) => {
      const time = at + origin;
      if (Number.isNaN(second)) return audible.some((a) => time > a.at + 0.1 && time < a.until - 0.1);
      return !isShown(second, time, audible, 0.1) && !audible.some((a) => Math.abs(time - a.at) < 0.15);
    });
  if (unheard.length > 0)
    found.push(`${unheard.length} of ${heard.length} wrong pitches: ${JSON.stringify(unheard.slice(0, 5))}`);
  return found;
}
