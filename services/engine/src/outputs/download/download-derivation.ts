import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadExtension } from '@framelane/contracts/outputs/download';
import type { DerivationOf } from '@framelane/contracts/outputs/tasks';
import { isAudioRendition } from '@framelane/contracts/renditions';
import { explainToolError } from '../../ffmpeg/errors.ts';
import { runFfmpeg } from '../../ffmpeg/run-ffmpeg.ts';
import { grantFile, grantFolder, OUTPUT_FOLDER, SOURCE_FOLDER } from '../../sandbox/job-folder.ts';
import { ToolError } from '../../sandbox/run-tool.ts';
import { hostileOutput, readFrom, ToolOutput, ToolOutputError } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import type { DerivationJob, DerivationKind } from '../kinds.ts';
import { withStorageRetries } from '../storage-retries.ts';
import type { RunContext } from '../stored-run.ts';
import { fetchTrack } from '../stored-tracks.ts';
import { downloadArguments, METADATA_FILE } from './download-arguments.ts';
import { ffmetadata } from './ffmetadata.ts';

const MICROSECONDS = 1_000_000;

/** Half of the progress is fetching the renditions, a quarter is writing the file, and a quarter storing it. */
const FETCHED = 0.5;
const WRITTEN = 0.75;

/** MP4 has less overhead than MPEG-TS. The index and the title need little. */
const OVERHEAD_BYTES = 64 * 1024 ** 2;

/** A file that people download, made from stored renditions without encoding. */
export const DOWNLOAD: DerivationKind<DerivationOf<'download'>> = {
  // The decrypted renditions and the file.
  diskNeed: (inputBytes) => 2 * inputBytes + OVERHEAD_BYTES,
  run: async (job, directory, context) => {
    const { work, output } = job;
    const file = `download.${downloadExtension(work.name)}`;
    await fetchInputs(job, directory, context);
    const folder = join(directory, OUTPUT_FOLDER);
    await mkdir(folder);
    await grantFolder(folder, 'write', context.tools.account);
    const files = await ToolOutput.open(folder);
    try {
      await write(job, file, directory, context);
      const bytes = await store(files, file, { ...job, prefix: output.prefix }, context);
      return { download: { name: work.name, bytes } };
    } catch (error) {
      if (error instanceof ToolOutputError) throw hostileOutput(error);
      throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
    } finally {
      await files.close();
    }
  },
};

/** Writes the decrypted renditions and the title to the folder that ffmpeg reads. */
async function fetchInputs(
  { work, tracks, duration, output }: DerivationJob<DerivationOf<'download'>>,
  directory: string,
  { objects, tools, signal, onProgress }: RunContext,
): Promise<void> {
  const folder = join(directory, SOURCE_FOLDER);
  const all = inputBytesOf(tracks);
  let fetched = 0;
  const onFetched = (bytes: number) => {
    fetched += bytes;
    onProgress((FETCHED * fetched) / all);
  };
  for (const track of tracks) {
    const path = join(folder, track.name);
    await fetchTrack(track, path, { objects, contentKey: output.contentKey, signal, onFetched });
    await grantFile(path, tools.account);
  }
  const metadata = join(folder, METADATA_FILE);
  await writeFile(metadata, ffmetadata({ ...work, duration }));
  await grantFile(metadata, tools.account);
}

async function write(
  { work, tracks, duration, startTimestamp }: DerivationJob<DerivationOf<'download'>>,
  file: string,
  directory: string,
  { tools, settings: { limits }, signal, onProgress }: RunContext,
): Promise<void> {
  const { encodeSeconds, memoryBytes } = limits;
  const limitSeconds = encodeSeconds.fixed + duration;
  await runFfmpeg(downloadArguments({ tracks, startTimestamp, chapters: work.chapters }, file), {
    program: tools.remuxFfmpeg,
    cwd: directory,
    signal,
    limitSeconds,
    // While ffmpeg moves the index to the beginning, it reports no progress.
    stallSeconds: limitSeconds,
    memoryBytes,
    progressKey: 'out_time_us',
    onProgress: (value) => {
      const fraction = Math.min(1, value / (duration * MICROSECONDS));
      onProgress(FETCHED + (WRITTEN - FETCHED) * fraction);
    },
    mustPause: () => false,
  });
}

/** Stores the file that ffmpeg has written. Resolves with its size. */
async function store(
  files: ToolOutput,
  name: string,
  { tracks, prefix }: Pick<DerivationJob<DerivationOf<'download'>>, 'tracks'> & { prefix: string },
  { objects, signal }: RunContext,
): Promise<number> {
  const file = await files.file(name, inputBytesOf(tracks) + OVERHEAD_BYTES);
  if (file === null) throw incompleteOutput(`${name} is missing`);
  try {
    if (file.bytes === 0) throw incompleteOutput(`${name} is empty`);
    const isVideo = tracks.some((track) => !isAudioRendition(track.name));
    const contentType = isVideo ? 'video/mp4' : 'audio/mp4';
    const key = `${prefix}${name}`;
    const { bytes } = await withStorageRetries(
      () => objects.putStream(key, readFrom(file), { contentType, signal }),
      signal,
    );
    return bytes;
  } finally {
    await file.handle.close();
  }
}

function inputBytesOf(tracks: DerivationJob<DerivationOf<'download'>>['tracks']): number {
  return tracks.reduce((sum, { segmentBytes }) => sum + segmentBytes.reduce((a, b) => a + b, 0), 0);
}
