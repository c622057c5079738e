import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { readerOf } from '../../../encoders/encoders.ts';
import { initializationFile, segmentFile } from '../../../packagers/segment-files.ts';
import { grantFile, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { readFrom, type ToolOutput } from '../../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../../transcode-failure.ts';
import { inParallel } from '../../in-parallel.ts';
import type { ClipJob } from '../../kinds.ts';
import { runOnStored } from '../../run-on-stored.ts';
import { maxSegmentBytes, type RunContext } from '../../stored-run.ts';
import {
  fetchSegment,
  fetchSegments,
  initializationOf,
  segmentsOf,
  withInitialization,
  writeSegments,
} from '../../stored-tracks.ts';
import { initializationFact, openOutput, readInitializationFile } from '../output-reader.ts';
import { type AudioInput, audioArguments, audioCuts, firstFileOf } from './clip-audio.ts';
import { audioTracksOf, packagerOfClip, rangeOf, readingOf } from './clip-job.ts';
import { type Stored, storeSegment } from './clip-storage.ts';

type Track = ReturnType<typeof audioTracksOf>[number];

/** Cuts the audio of a clip, and stores its segments. */
export async function storeAudio(
  job: ClipJob,
  directory: string,
  files: ToolOutput,
  context: RunContext,
): Promise<StoredRendition[]> {
  const tracks = audioTracksOf(job);
  if (tracks.length === 0) return [];
  const inputs: AudioInput[] = [];
  for (const track of tracks) inputs.push(await fetchAudio(job, track, directory, context));
  const { tools } = context;
  const seconds = job.plan.encode.duration;
  await runOnStored(audioArguments(job, inputs), { program: tools.remuxFfmpeg, seconds }, directory, context);
  const renditions: StoredRendition[] = [];
  for (const [at, track] of tracks.entries())
    renditions.push(await store(job, track, inputs[at] as AudioInput, files, context));
  return renditions;
}

/** Writes the decrypted audio of a track to the folder that ffmpeg reads. */
async function fetchAudio(
  job: ClipJob,
  track: Track,
  directory: string,
  context: RunContext,
): Promise<AudioInput> {
  const path = join(directory, SOURCE_FOLDER, track.name);
  const { first, end } = rangeOf(job, track.name);
  const reading = readingOf(job, context);
  const begin = await fetchSegment(track, first, reading);
  const segments = async function* () {
    yield begin;
    yield* fetchSegments(track, segmentsOf(track, { first: first + 1, end }), reading);
  };
  await writeSegments(path, withInitialization(track, segments()), reading);
  await grantFile(path, context.tools.account);
  const reader = packagerOfClip(job).open(readerOf(track.name), initializationOf(track));
  return { start: reader.start(begin), frameSeconds: reader.frameSeconds(begin) };
}

async function store(
  job: ClipJob,
  { name, codecs }: Track,
  input: AudioInput,
  files: ToolOutput,
  context: RunContext,
): Promise<StoredRendition> {
  const firstFile = firstFileOf(job, input);
  const packager = packagerOfClip(job);
  // The last cut is the end.
  const count = audioCuts(job, input.frameSeconds).length - 1;
  const section = await readInitializationFile(files, initializationFile(name), packager);
  const reader = openOutput(name, packager, section, { isCopy: false });
  const segments: Stored[] = await inParallel(
    [...Array(count).keys()],
    async (sequence, signal) => {
      const fileName = segmentFile(name, firstFile + sequence, packager);
      const file = await files.file(fileName, maxSegmentBytes(job.plan.encode));
      if (file === null || file.bytes === 0) throw incompleteOutput(`${fileName} is missing`);
      try {
        const segment = await buffer(readFrom(file));
        return await storeSegment(job, { name, sequence, segment }, reader, { ...context, signal });
      } finally {
        await file.handle.close();
      }
    },
    context.signal,
  );
  return { name, codecs, ...initializationFact(reader), first: 0, segments };
}
