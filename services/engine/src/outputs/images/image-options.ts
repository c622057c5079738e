import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { WITHOUT_METADATA } from '../../ffmpeg/arguments.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { OUTPUT_FOLDER } from '../../sandbox/job-folder.ts';
import { imageNames } from './image-filters.ts';

/**
 * Each image is written several times, and each version replaces the one before. The filters emit the versions as frames one
 * second apart. `-r 1` is the same rate, so ffmpeg neither repeats nor drops a version.
 */
function imageOptions(name: string): string[] {
  return [
    ...['-map', `[${name}]`, ...WITHOUT_METADATA, '-r', '1', '-c:v', 'mjpeg', '-q:v', '4'],
    ...['-f', 'image2', '-update', '1'],
  ];
}

/** The files of the images. Their frames are labelled with the names of the images. */
export function imageOutputs(plan: EncodePlan): FfmpegCommandLine['outputs'] {
  return imageNames(plan).map((name) => ({
    options: imageOptions(name),
    path: `${OUTPUT_FOLDER}/${name}.jpg`,
  }));
}
