import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from '../../sandbox/job-folder.ts';
import { readSegments } from '../stored-tracks.ts';
import { SAMPLE_RATE } from './quiet-cut.ts';

/** The samples, in the folder of the output: mono, 16 bits, little-endian. */
export const SOUND_FILE = 'sound';

/**
 * The run that decodes an audio rendition to samples. The first one belongs to the first frame of the video: what is missing before it is silence,
 * and so are gaps.
 */
export function soundArguments(
  rendition: string,
  packaging: PackagingName,
  startTimestamp: number,
): FfmpegCommandLine {
  return {
    inputOptions: ['-nostdin', '-hide_banner', '-v', 'error', '-copyts', ...readSegments(packaging)],
    input: `file:${SOURCE_FOLDER}/${rendition}`,
    outputs: [
      {
        options: [
          ...['-map', '0:a:0', '-ac', '1', '-af'],
          `asetpts=PTS-${startTimestamp}/${CLOCK_HZ}/TB,aresample=${SAMPLE_RATE}:async=1:first_pts=0`,
          ...['-c:a', 'pcm_s16le', '-f', 's16le'],
        ],
        path: `${OUTPUT_FOLDER}/${SOUND_FILE}`,
      },
    ],
  };
}
