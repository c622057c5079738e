import type { VideoCodec } from '@framelane/contracts/renditions';
import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { pieceEncoderOptions } from '../ffmpeg/encoder-options.ts';
import { deviceOptions, type HardwareRun, uploadOf } from '../ffmpeg/hardware-run.ts';
import type { Packager } from '../packagers/packager.ts';
import { initializationFile, segmentFile } from '../packagers/segment-files.ts';
import { TIMESTAMP_OFFSET_SECONDS } from '../packagers/timestamp-offset.ts';
import { inCodec } from '../plan/alternatives.ts';
import { BT709 } from '../plan/colour.ts';
import { type MaxRates, planLadder } from '../plan/ladder.ts';
import { OUTPUT_FOLDER } from '../sandbox/job-folder.ts';

/** The clip of a probe: one second with a forced key frame, where a second segment begins. */
export const PROBE = { framesPerSecond: 25, frames: 25, keyFrame: 12 } as const;

/** As large as the largest renditions of usual videos. */
const SIZE = { width: 1920, height: 1080 };

/** Frames that a device cannot know before. */
const PICTURES = `testsrc2=size=${SIZE.width}x${SIZE.height}:rate=${PROBE.framesPerSecond},trim=end_frame=${PROBE.frames}`;

const QUIET = ['-nostdin', '-hide_banner', '-v', 'error'];

/** What a probe encodes at a time: all rungs of a video, as in a job. */
export function probedRenditions(codec: VideoCodec, maxRates: MaxRates): VideoRenditionPlan[] {
  return inCodec(codec, planLadder(SIZE, PROBE.framesPerSecond, maxRates));
}

/** The run that encodes all renditions of the clip on the device, with the options of a job, in two segments each. */
export function encodeArguments(
  run: HardwareRun,
  renditions: readonly VideoRenditionPlan[],
  packager: Packager,
): string[] {
  const plan = {
    colour: BT709,
    copiesVideo: false,
    firstFrame: 0,
    frameRate: { numerator: PROBE.framesPerSecond, denominator: 1 },
    videoRenditions: [...renditions],
  };
  const settings = { preset: 'veryfast', threads: 1, device: run };
  const piece = { keyFrames: [0, PROBE.keyFrame] };
  return [
    ...QUIET,
    ...deviceOptions(run),
    ...['-filter_complex', scaledTo(renditions, ({ name }) => uploadOf(name, run))],
    ...renditions.flatMap((rendition) => [
      ...['-map', `[${rendition.name}]`],
      ...pieceEncoderOptions(rendition, { plan, piece, settings }),
      ...['-output_ts_offset', String(TIMESTAMP_OFFSET_SECONDS)],
      ...['-f', 'segment'],
      ...packager.segmentOptions(`${OUTPUT_FOLDER}/${initializationFile(rendition.name)}`),
      ...['-segment_frames', String(PROBE.keyFrame)],
      `${OUTPUT_FOLDER}/${segmentFile(rendition.name, '%d', packager)}`,
    ]),
  ];
}

/**
 * The run that decodes the second segment of each rendition in software, and prints how much its frames resemble those of the clip: lines with
 * `All:` and the structural similarity. The packaging must have no initialization sections.
 */
export function compareArguments(renditions: readonly VideoRenditionPlan[], packager: Packager): string[] {
  const reset = 'setpts=N/TB';
  const compared = renditions.map(
    ({ name }, at) =>
      `[${name}]trim=start_frame=${PROBE.keyFrame},${reset}[of-${name}];` +
      `[${at}:v]${reset},format=yuv420p[as-${name}];[as-${name}][of-${name}]ssim=stats_file=-[like-${name}]`,
  );
  return [
    ...QUIET,
    ...renditions.flatMap(({ name }) => [
      ...['-f', packager.demuxer, '-i', `file:${OUTPUT_FOLDER}/${segmentFile(name, 1, packager)}`],
    ]),
    ...['-filter_complex', [scaledTo(renditions, () => undefined), ...compared].join(';')],
    ...renditions.flatMap(({ name }) => ['-map', `[like-${name}]`, '-f', 'null', '-']),
  ];
}

/** The clip in the sizes of renditions, each with the name of its rendition as its label. */
function scaledTo(
  renditions: readonly VideoRenditionPlan[],
  uploadFor: (rendition: VideoRenditionPlan) => string | undefined,
): string {
  const labels = renditions.map((_, at) => `[clip${at}]`).join('');
  const { matrix, primaries, transfer } = BT709;
  const colours = `setparams=range=tv:colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}`;
  const chains = renditions.map((rendition, at) => {
    const { name, width, height } = rendition;
    const upload = uploadFor(rendition);
    const steps = [`scale=${width}:${height}`, 'setsar=1', ...(upload === undefined ? [] : [upload])];
    return `[clip${at}]${steps.join(',')}[${name}]`;
  });
  return [`${PICTURES},format=yuv420p,${colours},split=${renditions.length}${labels}`, ...chains].join(';');
}
