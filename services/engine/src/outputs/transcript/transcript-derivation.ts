import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_CUES } from '@framelane/captions/captions';
import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';
import type { DerivationOf } from '@framelane/contracts/outputs/tasks';
import { MAX_TRANSCRIPT_BYTES } from '@framelane/contracts/outputs/transcript';
import { ThreadTimeoutError, WorkerThreads } from '@framelane/service-kit/worker-threads';
import { explainToolError } from '../../ffmpeg/errors.ts';
import type { Recognition } from '../../recognizers/read-answer.ts';
import type { Recognizer } from '../../recognizers/recognizer.ts';
import { RecognizerFailure, recognizerFailure } from '../../recognizers/recognizer-failure.ts';
import { primaryLanguage } from '../../recognizers/spoken-language.ts';
import { grantFile, grantFolder, OUTPUT_FOLDER, SOURCE_FOLDER } from '../../sandbox/job-folder.ts';
import { ToolError } from '../../sandbox/run-tool.ts';
import { hostileOutput, type OutputFile, ToolOutput, ToolOutputError } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import type { DerivationJob, DerivationKind } from '../kinds.ts';
import { runOnStored } from '../run-on-stored.ts';
import type { RunContext } from '../stored-run.ts';
import { fetchTrack } from '../stored-tracks.ts';
import { CaptionCues } from './caption-cues.ts';
import { DetectedLanguage } from './detected-language.ts';
import { SAMPLE_RATE } from './quiet-cut.ts';
import { withRetries } from './recognizer-retries.ts';
import { SOUND_FILE, soundArguments } from './sound-arguments.ts';
import { nextPart, readWav } from './sound-parts.ts';
import { SAMPLE_BYTES } from './wav.ts';

type Job = DerivationJob<DerivationOf<'transcript'>>;

/** The progress when the audio is fetched, and when it is decoded. */
const FETCHED = 0.03;
const DECODED = 0.06;

/** Parts that are too long for the recogniser are halved, down to this. */
const MIN_PART_SECONDS = 10;

/** The language of a text that is not known (BCP 47). */
const UNDETERMINED = 'und';

const OVERHEAD_BYTES = 64 * 1024 ** 2;

/** Answers of recognisers are read off the event loop. The largest takes about 100 ms. */
const threads = new WorkerThreads<typeof import('../../recognizers/read-answer.ts')>(
  import.meta.resolve('@framelane/engine/recognizers/read-answer'),
  { threads: 1, maxWaiting: Number.POSITIVE_INFINITY, timeoutMs: 30_000 },
);

/** Captions of what is said in a video. The sound is recognised in parts, which are cut where it is quiet. */
export const TRANSCRIPT: DerivationKind<DerivationOf<'transcript'>> = {
  diskNeed: (inputBytes, duration) => inputBytes + soundBytes(duration) + OVERHEAD_BYTES,
  run: async (job, directory, context) => {
    const { recognizer } = context;
    if (recognizer === undefined)
      throw new Error('This engine has no recogniser, and consumes no such command');
    await fetchSound(job, directory, context);
    const folder = join(directory, OUTPUT_FOLDER);
    await mkdir(folder);
    await grantFolder(folder, 'write', context.tools.account);
    const files = await ToolOutput.open(folder);
    try {
      await decode(job, directory, context);
      const sound = await files.file(SOUND_FILE, soundBytes(job.duration));
      if (sound === null) throw incompleteOutput('The decoded sound is missing');
      try {
        return { transcript: await transcribe(job, { directory, sound, recognizer }, context) };
      } finally {
        await sound.handle.close();
      }
    } catch (error) {
      if (error instanceof ToolOutputError) throw hostileOutput(error);
      throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
    } finally {
      await files.close();
    }
  },
};

async function fetchSound(
  { packaging, tracks: [track], output }: Job,
  directory: string,
  context: RunContext,
): Promise<void> {
  if (track === undefined) throw new Error('A transcript has no audio');
  const { objects, tools, signal, onProgress } = context;
  const all = track.segmentBytes.reduce((sum, bytes) => sum + bytes, 0);
  const path = join(directory, SOURCE_FOLDER, track.name);
  let fetched = 0;
  await fetchTrack(track, path, {
    objects,
    packaging,
    contentKey: output.contentKey,
    signal,
    onFetched: (bytes) => {
      fetched += bytes;
      onProgress((FETCHED * fetched) / all);
    },
  });
  await grantFile(path, tools.account);
}

async function decode(
  { work, packaging, duration, startTimestamp }: Job,
  directory: string,
  context: RunContext,
): Promise<void> {
  const run = { program: context.tools.remuxFfmpeg, seconds: duration };
  await runOnStored(soundArguments(work.rendition, packaging, startTimestamp), run, directory, context);
  context.onProgress(DECODED);
}

/** Samples of the video, with a minute of margin: audio may be longer than video. */
function soundBytes(duration: number): number {
  return Math.ceil(duration + 60) * SAMPLE_RATE * SAMPLE_BYTES;
}

async function transcribe(
  { work, tracks: [track], duration, output }: Job,
  { directory, sound, recognizer }: { directory: string; sound: OutputFile; recognizer: Recognizer },
  { signal, onProgress, logger }: RunContext,
) {
  const cues = new CaptionCues();
  const detected = new DetectedLanguage();
  const named = work.requested === '' ? null : primaryLanguage(work.requested);
  const samples = Math.min(Math.floor(sound.bytes / SAMPLE_BYTES), Math.ceil(duration * SAMPLE_RATE));
  let [parts, words, recognized] = [0, 0, 0];
  let most = recognizer.maxSeconds * SAMPLE_RATE;
  for (let from = 0; from < samples; ) {
    const part = await nextPart(sound, { from, end: samples, most });
    if (part.heard !== undefined) {
      const begin = from + part.heard.from;
      const seconds = (part.heard.end - part.heard.from) / SAMPLE_RATE;
      const wav = await readWav(sound, begin, from + part.heard.end);
      const request = { language: named ?? detected.sure, directory, signal };
      const recognition = await withRetries(recognizer, signal, async () => {
        const answer = await recognizer.recognize({ wav, seconds }, request);
        return read(directory, answer, seconds);
      }).catch((error: unknown) => {
        if (!isTooLong(error) || most / 2 < MIN_PART_SECONDS * SAMPLE_RATE) throw error;
      });
      if (recognition === undefined) {
        most /= 2;
        continue;
      }
      detected.add(recognition);
      cues.add(recognition.words.map((word) => later(word, begin / SAMPLE_RATE)));
      parts += 1;
      words += recognition.words.length;
      recognized += seconds;
    }
    from += part.samples;
    onProgress(DECODED + ((1 - DECODED) * from) / samples);
  }
  const language = work.requested || detected.likely || (track?.language ?? UNDETERMINED);
  logger.info('transcript.recognized', { ...output.facts, language, parts, words, seconds: recognized });
  return { requested: work.requested, language, webvtt: webvttOf(cues), seconds: recognized };
}

async function read(job: string, answer: string, seconds: number): Promise<Recognition> {
  try {
    const result = await threads.run(job, 'readAnswer', { answer, seconds });
    if ('flaw' in result) throw recognizerFailure(result.flaw, { retryable: true });
    return result;
  } catch (error) {
    if (!(error instanceof ThreadTimeoutError)) throw error;
    throw recognizerFailure('Reading the answer took too long', { retryable: false, cause: error });
  }
}

function isTooLong(error: unknown): boolean {
  return error instanceof RecognizerFailure && error.isTooLong;
}

function later<T extends { start: number; end: number }>(word: T, seconds: number): T {
  return { ...word, start: word.start + seconds, end: word.end + seconds };
}

/** The cues as WebVTT; empty if there are none. */
function webvttOf(builder: CaptionCues): string {
  const cues = builder.finish();
  if (cues.length === 0) return '';
  const webvtt = webVttFile(cues.map(cueBlock));
  if (cues.length > MAX_CUES || Buffer.byteLength(webvtt) > MAX_TRANSCRIPT_BYTES)
    throw recognizerFailure('The recogniser has sent more text than captions may have', { retryable: false });
  return webvtt;
}
