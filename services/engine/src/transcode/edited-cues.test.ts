import { expect, test } from '@jest/globals';
import { editedCues } from './edited-cues.ts';

const cue = (start: number, end: number) => ({ start, end, settings: '', text: 'A' });

test('an edit list moves cues, and cuts those at its boundaries', () => {
  const cues = [cue(0, 900), cue(1500, 2500), cue(4000, 5000)];
  const all = { from: 0, lasts: Number.POSITIVE_INFINITY };
  expect(editedCues(cues, [{ at: 0, ...all }])).toEqual({ cues });
  expect(
    editedCues(cues, [
      { at: 1, from: 2, lasts: 2.5 },
      { at: 3.5, from: 0.5, lasts: 1 },
    ]),
  ).toEqual({ cues: [cue(1000, 1500), cue(3000, 3500), cue(3500, 3900)] });
});

test('cues that are all hidden are a flaw', () => {
  expect(editedCues([cue(6000, 7000)], [{ at: 0, from: 0, lasts: 5 }])).toEqual({
    flaw: 'it has no cue with text and a duration',
  });
});

test.each([
  ['parts', 33, 2],
  ['cues', 20, 2501],
])('an edit list of too many %s is a flaw', (_, parts, count) => {
  const shown = Array.from({ length: parts }, () => ({ at: 0, from: 0, lasts: 1 }));
  const cues = Array.from({ length: count }, () => cue(0, 1));
  expect(editedCues(cues, shown)).toMatchObject({ flaw: expect.stringContaining('edit list') });
  expect(editedCues(cues.slice(1), shown.slice(1))).toHaveProperty('cues');
});
