import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { ThreadTimeoutError, WorkerThreads } from '@framelane/service-kit/worker-threads';
import { longestBlock } from '@framelane/test-kit/event-loop';
import { expect, jest, test } from '@jest/globals';
import type { TrackName } from '../source/media-source.ts';
import type { ProbedSource } from '../source/probe.ts';
import { readTextTracks, toCaptions } from './text-tracks.ts';

const context = { directory: 'job', logger: createLogger({ service: 'test', level: 'silent' }) };

test('captions that take too long are left out, and jobs take turns', async () => {
  const run = jest.spyOn(WorkerThreads.prototype, 'run');
  run.mockRejectedValueOnce(new ThreadTimeoutError('convert took more than 1 ms')).mockResolvedValueOnce('B');
  const warn = jest.spyOn(context.logger, 'warn');
  try {
    const texts = ['en', 'de'].map((language) => ({ language, title: undefined, file: Buffer.of() }));
    expect(await toCaptions(texts, { lead: 0, duration: 2 }, context)).toEqual([
      { language: 'de', label: null, webvtt: 'B' },
    ]);
    expect(run.mock.calls.map((call: unknown[]) => call[0])).toEqual(['job', 'job']);
    expect(warn.mock.calls).toEqual([
      ['transcode.captions_left_out', expect.objectContaining({ language: 'en' })],
    ]);
  } finally {
    run.mockRestore();
    warn.mockRestore();
  }
});

test('cues move with the video, and what is outside of it is left out', async () => {
  const srt = (...times: string[]) => Buffer.from(times.map((time) => `${time}\nA\n\n`).join(''));
  const texts = [
    {
      language: 'en',
      title: 'Full',
      file: srt(
        '0:00:00,000 --> 0:00:00,030',
        '0:00:00,020 --> 0:00:00,500',
        '0:00:01,500 --> 0:00:02,500',
        '0:00:02,050 --> 0:00:02,500',
      ),
    },
    { language: null, title: undefined, file: srt('0:00:05,000 --> 0:00:06,000') },
  ];
  expect(await toCaptions(texts, { lead: 0.04, duration: 2 }, context)).toEqual([
    {
      language: 'en',
      label: 'Full',
      webvtt: 'WEBVTT\n\n00:00:00.000 --> 00:00:00.460\nA\n\n00:00:01.460 --> 00:00:02.000\nA\n',
    },
  ]);
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
    const lightFfmpeg = join(directory, 'ffmpeg');
    await writeFile(lightFfmpeg, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const logger = createLogger({ service: 'test', level: 'silent' });
    const failedRuns = jest.spyOn(logger, 'warn');
    const { source, texts } = await readTextTracks(
      { leftOut: tracks, reading: {} } as unknown as ProbedSource,
      directory,
      {
        tools: {
          ffmpeg: '',
          deviceFfmpeg: undefined,
          backgroundFfmpeg: '',
          hasOtherEncoders: true,
          lightFfmpeg,
          remuxFfmpeg: '',
          ffprobe: '',
          version: '',
          account: null,
          recognizer: undefined,
        },
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

test('text does not block the event loop, whatever it contains', async () => {
  const repeated = {
    tags: `${'<b>'.repeat(300_000)}${'</i>'.repeat(250_000)}x`,
    spaces: `00:00:01,000 --> 00:00:02,000${' '.repeat(1_000_000)}x\u2028`,
    cues: 'A\n\n00:00:01,000 --> 00:00:02,000\n'.repeat(50_000),
  };
  const directory = await mkdtemp(join(tmpdir(), 'framelane-text-'));
  try {
    for (const [name, text] of Object.entries(repeated)) {
      await writeFile(join(directory, name), `00:00:01,000 --> 00:00:02,000\n${text}A\n`);
    }
    const script = `i=0; for file in ${directory}/*; do cp "$file" output/$i.srt; i=$((i + 1)); done`;
    const block = await longestBlock(async () => {
      const { texts, leftOut } = await readWith(script, [track(1), track(2), track(3)]);
      expect(texts).toHaveLength(1);
      expect(leftOut).toMatchObject([
        { flaw: 'it has more than 50000 cues' },
        { flaw: 'a blank line is missing before this cue' },
      ]);
      expect(await toCaptions(texts, { lead: 0, duration: 2 }, context)).toHaveLength(1);
    });
    expect(block).toBeLessThan(100);
  } finally {
    await rm(directory, { recursive: true });
  }
});
