import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { expect, jest, test } from '@jest/globals';
import type { TrackName } from '../source/media-source.ts';
import type { ProbedSource } from '../source/probe.ts';
import { edited, readTextTracks, toCaptions } from './text-tracks.ts';

const cue = (start: number, end: number) => ({ start, end, settings: '', text: 'A' });

test('cues move with the video, and those outside of it are left out', () => {
  const cues = [cue(0, 30), cue(20, 500), cue(1500, 2500), cue(2050, 2500)];
  const texts = [
    { language: 'en', title: 'Full', cues },
    { language: null, title: undefined, cues: [cue(5000, 6000)] },
  ];
  expect(toCaptions(texts, { lead: 0.04, duration: 2 })).toEqual([
    {
      language: 'en',
      label: 'Full',
      webvtt: 'WEBVTT\n\n00:00:00.000 --> 00:00:00.460\nA\n\n00:00:01.460 --> 00:00:02.460\nA\n',
    },
  ]);
});

test('an edit list moves cues, and cuts those at its boundaries', () => {
  const cues = [cue(0, 900), cue(1500, 2500), cue(4000, 5000)];
  const all = { from: 0, lasts: Number.POSITIVE_INFINITY };
  expect(edited(cues, [{ at: 0, ...all }])).toEqual({ cues });
  expect(
    edited(cues, [
      { at: 1, from: 2, lasts: 2.5 },
      { at: 3.5, from: 0.5, lasts: 1 },
    ]),
  ).toEqual({ cues: [cue(1000, 1500), cue(3000, 3500), cue(3500, 3900)] });
});

test.each([
  ['parts', 33, 1],
  ['cues', 20, 2501],
])('an edit list of too many %s is a flaw', (_, parts, count) => {
  const shown = Array.from({ length: parts }, () => ({ at: 0, from: 0, lasts: 1 }));
  const cues = Array.from({ length: count }, () => cue(0, 1));
  expect(edited(cues, shown)).toMatchObject({ flaw: expect.stringContaining('edit list') });
  expect(edited(cues.slice(1), shown.slice(1))).toHaveProperty('cues');
});

const track = (index: number): TrackName => ({
  index,
  kind: 'subtitles',
  codec: 'subrip',
  language: null,
});

/** Reads text tracks with this shell script in place of ffmpeg. `runs` has the tracks of each failed run. */
async function readWith(script: string, tracks: TrackName[], scanSeconds = 60) {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-text-'));
  try {
    const textFfmpeg = join(directory, 'ffmpeg');
    await writeFile(textFfmpeg, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const logger = createLogger({ service: 'test', level: 'silent' });
    const failedRuns = jest.spyOn(logger, 'warn');
    const { source, texts } = await readTextTracks(
      { leftOut: tracks } as unknown as ProbedSource,
      directory,
      {
        tools: { ffmpeg: '', textFfmpeg, ffprobe: '', version: '', account: null },
        settings: { limits: { scanSeconds } as never },
        logger,
        signal: new AbortController().signal,
      },
    );
    const runs = failedRuns.mock.calls.map((call: unknown[]) => (call[1] as { tracks: number[] }).tracks);
    return { leftOut: source.leftOut, texts, runs };
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('all runs share one time limit: after it, the tracks are left out', async () => {
  // The run for both tracks fails at once. A run for one track does not end.
  const script = 'case "$*" in *1.srt*) exit 1 ;; esac\nexec tail -f /dev/null';
  const { leftOut, texts, runs } = await readWith(script, [track(1), track(2)], 2);
  // The first track alone takes all of the time, so the second one is not tried.
  expect(runs).toEqual([[1, 2], [1]]);
  expect(texts).toEqual([]);
  const flaw = 'reading the text takes too long';
  expect(leftOut).toEqual([
    { ...track(1), flaw },
    { ...track(2), flaw },
  ]);
});

test.each([
  ['fails', 'exit 1', [[1]]],
  ['writes no file', 'exit 0', []],
])('a single track is left out after one run, if ffmpeg %s', async (_, script, failedRuns) => {
  const { leftOut, texts, runs } = await readWith(script, [track(1)]);
  expect(runs).toEqual(failedRuns);
  expect(texts).toEqual([]);
  expect(leftOut).toEqual([{ ...track(1), flaw: 'its text cannot be read' }]);
});

test('without text tracks, ffmpeg does not run', async () => {
  const image = { ...track(1), codec: 'hdmv_pgs_subtitle' };
  expect(await readWith('exit 1', [image])).toEqual({ leftOut: [image], texts: [], runs: [] });
});
