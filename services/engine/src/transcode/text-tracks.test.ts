import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { expect, jest, test } from '@jest/globals';
import type { TrackName } from '../source/media-source.ts';
import type { ProbedSource } from '../source/probe.ts';
import { readTextTracks, toCaptions } from './text-tracks.ts';

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

test('all runs share one time limit: after it, the tracks are left out', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-text-'));
  try {
    const textFfmpeg = join(directory, 'ffmpeg');
    // The run for both tracks fails at once. A run for one track does not end.
    const script = '#!/bin/sh\ncase "$*" in *1.srt*) exit 1 ;; esac\nexec tail -f /dev/null\n';
    await writeFile(textFfmpeg, script, { mode: 0o755 });
    const logger = createLogger({ service: 'test', level: 'silent' });
    const failedRuns = jest.spyOn(logger, 'warn');
    const track = (index: number): TrackName => ({
      index,
      kind: 'subtitles',
      codec: 'subrip',
      language: null,
    });
    const { source, texts } = await readTextTracks(
      { leftOut: [track(1), track(2)] } as unknown as ProbedSource,
      directory,
      {
        tools: { ffmpeg: '', textFfmpeg, ffprobe: '', version: '', account: null },
        settings: { limits: { scanSeconds: 0.5 } as never },
        logger,
        signal: new AbortController().signal,
      },
    );
    // The first track alone takes all of the time, so the second one is not tried.
    const facts = failedRuns.mock.calls.map((call: unknown[]) => call[1]);
    expect(facts).toMatchObject([{ tracks: [1, 2] }, { tracks: [1] }]);
    expect(texts).toEqual([]);
    const flaw = 'reading the text takes too long';
    expect(source.leftOut).toMatchObject([
      { index: 1, flaw },
      { index: 2, flaw },
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
