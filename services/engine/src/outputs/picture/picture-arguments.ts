import { CLOCK_HZ } from '@framelane/contracts/manifest';
import {
  type PictureFit,
  type PictureFormat,
  type PictureWork,
  pictureFile,
} from '@framelane/contracts/outputs/picture';
import type { PackagingName } from '@framelane/contracts/packaging';
import { WITHOUT_METADATA } from '../../ffmpeg/arguments.ts';
import { IMAGE_COLOURS } from '../../ffmpeg/image-colours.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { packagerOf } from '../../packagers/packagers.ts';
import { OUTPUT_FOLDER, SOURCE_INPUT } from '../../sandbox/job-folder.ts';
import { readSegments } from '../stored-tracks.ts';

/** What to make of decrypted segments, and the timestamp of the first frame of the video. */
export type PictureContent = {
  work: PictureWork;
  packaging: PackagingName;
  startTimestamp: number;
  threads: number;
};

/** Times are whole milliseconds, and a frame is due at the nearest one: a client that has computed its time in another way gets that frame, too. */
const HALF_MILLISECOND = CLOCK_HZ / 2000;

/** The run that makes a picture. Codec parameters are at the beginning, so ffmpeg need not read ahead to find them. */
export function pictureArguments({
  work,
  packaging,
  startTimestamp,
  threads,
}: PictureContent): FfmpegCommandLine {
  const { format, motion } = work;
  return {
    inputOptions: [
      ...['-nostdin', '-hide_banner', '-v', 'error', '-copyts', '-threads', String(threads)],
      ...[
        ...readSegments(packaging),
        '-f',
        packagerOf(packaging).demuxer,
        '-analyzeduration',
        '0',
        '-fpsprobesize',
        '0',
      ],
    ],
    input: SOURCE_INPUT,
    outputs: [
      {
        options: [
          ...['-filter_complex', `[0:v:0]${pictureFilters(work, startTimestamp)}[picture]`],
          ...[
            '-map',
            '[picture]',
            ...WITHOUT_METADATA,
            ...ENCODING[format],
            ...muxer(format, motion !== null),
          ],
        ],
        path: `${OUTPUT_FOLDER}/${pictureFile(format)}`,
      },
    ],
  };
}

/** Of an animation, libwebp_anim writes only what changes between two frames. */
const ENCODING: Record<PictureFormat, readonly string[]> = {
  jpg: ['-c:v', 'mjpeg', '-q:v', '4'],
  webp: ['-c:v', 'libwebp_anim', '-quality', '75'],
  gif: ['-c:v', 'gif'],
};

function muxer(format: PictureFormat, moves: boolean): string[] {
  if (moves) return ['-f', format, '-loop', '0'];
  return ['-f', 'image2', '-update', '1'];
}

/** The filters that take the frames of a picture and bring them to its size. */
function pictureFilters(work: PictureWork, startTimestamp: number): string {
  const { start, motion, format } = work;
  const { frames, framesPerSecond } = motion ?? { frames: 1, framesPerSecond: 1 };
  const filters = [
    // The last frame is shown until the end of the video, whatever its duration. From version 7 on, `tpad` needs the frame rate that `setpts` forgets.
    'tpad=stop_mode=clone:stop=-1',
    `settb=1/${CLOCK_HZ},setpts=PTS-${startTimestamp + HALF_MILLISECOND}`,
    // At each time, the last frame that is due.
    `fps=fps=${framesPerSecond}:start_time=${start / 1000}:round=up,trim=end_frame=${frames},setpts=PTS-STARTPTS`,
    ...sized(work)[work.fit],
    ...['setsar=1', FINISHING[format]],
  ];
  return filters.join(',');
}

const FINISHING: Record<PictureFormat, string> = {
  jpg: 'format=yuvj420p',
  webp: 'format=yuv420p',
  gif: 'split[shown][counted];[counted]palettegen[palette];[shown][palette]paletteuse',
};

/** The filters that bring a frame to its size. Without 4:4:4, edges would be at even pixels. */
function sized({ width, height, format }: PictureWork): Record<PictureFit, string[]> {
  const size = `${width}:${height}`;
  const scale = [`scale=${size}`, IMAGE_COLOURS[format]].filter((each) => each !== '').join(':');
  return {
    contain: [scale],
    cover: [`${scale}:force_original_aspect_ratio=increase`, 'format=yuv444p', `crop=${size}`],
    pad: [`${scale}:force_original_aspect_ratio=decrease`, 'format=yuv444p', `pad=${size}:-1:-1`],
  };
}
