import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { AUDIO_ENCODER } from '../../../encoders/encoders.ts';
import { PACKAGER } from '../../../packagers/packagers.ts';
import { segmentFile } from '../../../packagers/segment-files.ts';
import { grantFile, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { readFrom, type ToolOutput } from '../../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../../transcode-failure.ts';
import { inParallel } from '../../in-parallel.ts';
import type { ClipJob } from '../../kinds.ts';
import { runOnStored } from '../../run-on-stored.ts';
import { maxSegmentBytes, type RunContext } from '../../stored-run.ts';
import { fetchSegment, fetchSegments, segmentsOf, writeSegments } from '../../stored-tracks.ts';
import { type AudioInput, audioArguments, audioCuts, firstFileOf } from './clip-audio.ts';
import { audioTracksOf, rangeOf } from './clip-job.ts';
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
  { objects, tools, signal }: RunContext,
): Promise<AudioInput> {
  const path = join(directory, SOURCE_FOLDER, track.name);
  const { contentKey } = job.parent;
  const { first, end } = rangeOf(job, track.name);
  const reading = { objects, contentKey, signal };
  const begin = await fetchSegment(track, first, reading);
  const segments = async function* () {
    yield begin;
    yield* fetchSegments(track, segmentsOf(track, { first: first + 1, end }), reading);
  };
  await writeSegments(path, segments(), reading);
  await grantFile(path, tools.account);
  const frameSeconds = AUDIO_ENCODER.frameSeconds(PACKAGER.streamOf(begin));
  return { start: PACKAGER.startOf(begin), frameSeconds };
}

async function store(
  job: ClipJob,
  { name, codecs }: Track,
  input: AudioInput,
  files: ToolOutput,
  context: RunContext,
): Promise<StoredRendition> {
  const firstFile = firstFileOf(job, input);
  // The last cut is the end.
  const count = audioCuts(job, input.frameSeconds).length - 1;
  const segments: Stored[] = await inParallel(
    [...Array(count).keys()],
    async (sequence, signal) => {
      const fileName = segmentFile(name, firstFile + sequence);
      const file = await files.file(fileName, maxSegmentBytes(job.plan.encode));
      if (file === null || file.bytes === 0) throw incompleteOutput(`${fileName} is missing`);
      try {
        return await storeSegment(
          job.output,
          { name, sequence, segment: await buffer(readFrom(file)) },
          { ...context, signal },
        );
      } finally {
        await file.handle.close();
      }
    },
    context.signal,
  );
  return { name, codecs, first: 0, segments };
}
