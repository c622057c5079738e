import type { StoredTrack } from '@framelane/contracts/internal-api';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { DownloadWork } from '@framelane/contracts/outputs/download';
import type { PackagingName } from '@framelane/contracts/packaging';
import { isAudioRendition } from '@framelane/contracts/renditions';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from '../../sandbox/job-folder.ts';
import { readSegments } from '../stored-tracks.ts';
import { languageOfTrack } from './track-language.ts';

/** The name of the file with the title, in the folder of the inputs. */
export const METADATA_FILE = 'metadata';

/** What to put into a file. The tracks are in its order. */
export type DownloadContent = {
  packaging: PackagingName;
  tracks: readonly StoredTrack[];
  startTimestamp: number;
  chapters: DownloadWork['chapters'];
};

/**
 * The run that puts decrypted renditions into one MP4 file without encoding. All timestamps are kept, and moved by the same offset: otherwise
 * each track would begin at its own first timestamp, which is earlier for audio.
 */
export function downloadArguments(
  { packaging, tracks, startTimestamp, chapters }: DownloadContent,
  file: string,
): FfmpegCommandLine {
  const reading = readSegments(packaging);
  const inputs = tracks.map(({ name }) => `file:${SOURCE_FOLDER}/${name}`);
  const [first = '', ...others] = inputs;
  const audio = tracks.filter(({ name }) => isAudioRendition(name));
  const isVideo = audio.length < tracks.length;
  return {
    inputOptions: ['-nostdin', '-hide_banner', '-v', 'error', '-copyts', ...reading],
    input: first,
    moreInputs: [
      ...others.map((path) => ({ options: reading, path })),
      {
        options: ['-protocol_whitelist', 'file', '-f', 'ffmetadata'],
        path: `file:${SOURCE_FOLDER}/${METADATA_FILE}`,
      },
    ],
    outputs: [
      {
        options: [
          ...inputs.flatMap((_, at) => ['-map', `${at}:0`]),
          ...['-map_metadata', String(inputs.length), '-map_chapters', String(inputs.length), '-c', 'copy'],
          ...audio.flatMap(({ language, label }, at) => [
            ...[`-metadata:s:a:${at}`, `language=${languageOfTrack(language)}`],
            ...(label === null ? [] : [`-metadata:s:a:${at}`, `handler_name=${label}`]),
            ...[`-disposition:a:${at}`, at === 0 ? 'default' : '0'],
          ]),
          ...['-output_ts_offset', String(-startTimestamp / CLOCK_HZ), '-movflags', movFlags(chapters)],
          ...['-f', isVideo ? 'mp4' : 'ipod'],
        ],
        path: `${OUTPUT_FOLDER}/${file}`,
      },
    ],
  };
}

/** The limit of Nero's list of chapters: of chapters, and of bytes in each title. */
const NERO_LIMIT = 255;

/**
 * The index is at the beginning. Nero's list of chapters, which some players prefer to the track of chapters, is left out where it would have only a
 * part of them.
 */
function movFlags(chapters: DownloadWork['chapters']): string {
  const fits =
    chapters.length < NERO_LIMIT && chapters.every(({ title }) => Buffer.byteLength(title) <= NERO_LIMIT);
  return fits ? '+faststart' : '+faststart+disable_chpl';
}
