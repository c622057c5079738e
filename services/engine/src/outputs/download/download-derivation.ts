import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadExtension } from '@framelane/contracts/outputs/download';
import type { DerivationOf } from '@framelane/contracts/outputs/tasks';
import { isAudioRendition } from '@framelane/contracts/renditions';
import { grantFile, SOURCE_FOLDER } from '../../sandbox/job-folder.ts';
import type { DerivationJob, DerivationKind } from '../kinds.ts';
import { makeFile } from '../made-file.ts';
import type { RunContext } from '../stored-run.ts';
import { bytesOf, fetchTrack } from '../stored-tracks.ts';
import { downloadArguments, METADATA_FILE } from './download-arguments.ts';
import { ffmetadata } from './ffmetadata.ts';

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
    const { work, packaging, tracks, duration, startTimestamp, output } = job;
    await fetchInputs(job, directory, context);
    const file = `download.${downloadExtension(work.name)}`;
    const isVideo = tracks.some(({ name }) => !isAudioRendition(name));
    const limitSeconds = context.settings.limits.encodeSeconds.fixed + duration;
    const bytes = await makeFile(
      {
        commandLine: downloadArguments({ packaging, tracks, startTimestamp, chapters: work.chapters }, file),
        program: context.tools.remuxFfmpeg,
        limitSeconds,
        // While ffmpeg moves the index to the beginning, it reports no progress.
        stallSeconds: limitSeconds,
        onProgress: (seconds) => {
          const fraction = Math.min(1, seconds / duration);
          context.onProgress(FETCHED + (WRITTEN - FETCHED) * fraction);
        },
        file,
        maxBytes: bytesOf(tracks) + OVERHEAD_BYTES,
        contentType: isVideo ? 'video/mp4' : 'audio/mp4',
        prefix: output.prefix,
      },
      directory,
      context,
    );
    return { download: { name: work.name, bytes } };
  },
};

/** Writes the decrypted renditions and the title to the folder that ffmpeg reads. */
async function fetchInputs(
  { work, packaging, tracks, duration, output }: DerivationJob<DerivationOf<'download'>>,
  directory: string,
  { objects, tools, signal, onProgress }: RunContext,
): Promise<void> {
  const folder = join(directory, SOURCE_FOLDER);
  const all = bytesOf(tracks);
  let fetched = 0;
  const onFetched = (bytes: number) => {
    fetched += bytes;
    onProgress((FETCHED * fetched) / all);
  };
  for (const track of tracks) {
    const path = join(folder, track.name);
    await fetchTrack(track, path, { objects, packaging, contentKey: output.contentKey, signal, onFetched });
    await grantFile(path, tools.account);
  }
  const metadata = join(folder, METADATA_FILE);
  await writeFile(metadata, ffmetadata({ ...work, duration }));
  await grantFile(metadata, tools.account);
}
