import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { TaskResult, TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { ImageName } from '@framelane/object-store/object-keys';
import { ffmpegArguments } from '../ffmpeg/arguments.ts';
import { storeImages } from '../output/image-uploads.ts';
import { describeStored } from '../output/manifest.ts';
import { InvalidSegmentError } from '../packagers/packager.ts';
import { iFrameSource } from '../plan/encode-plan.ts';
import type { TranscodeJobContext } from './job-source.ts';
import { maxSegments, namesOf, runAndStore, type TaskOutput } from './stored-run.ts';

/**
 * Makes all renditions and images of a video in one run of ffmpeg. Throws an InvalidSegmentError if the segments of the renditions do not
 * match, and a TranscodeFailure if a segment of encoded media is truncated.
 */
export async function runWhole(
  output: TaskOutput,
  plan: TranscodePlan,
  directory: string,
  context: TranscodeJobContext,
): Promise<TaskResult> {
  const { encode, iFrames } = plan;
  const { objects, settings } = context;
  const lowest = encode.videoRenditions[0];
  const { stored, others: images } = await runAndStore(
    {
      output,
      commandLine: ffmpegArguments(encode, settings),
      seconds: encode.duration,
      // ffmpeg reports the frame number of its first output, the lowest rendition.
      progress: { key: 'frame', end: Math.ceil(encode.frames / (lowest?.frameStep ?? 1)) },
      segments: {
        renditions: namesOf([...encode.videoRenditions, ...encode.audio]),
        iFramesOf: iFrames ? iFrameSource(encode.videoRenditions) : null,
        maxSegments: maxSegments(plan),
      },
      storeOthers: (files, signal) => {
        const keyOf = (name: ImageName) => `${output.prefix}${name}`;
        return storeImages(files, encode.images, { objects, keyOf, signal });
      },
    },
    encode,
    directory,
    context,
  );
  const renditions = describeStored(encode, stored, { firstFrame: 0, frames: encode.frames });
  const result = { renditions, images };
  // The control plane joins it, too, but cannot let the engine try another plan.
  try {
    joinManifest(plan, [result]);
  } catch (error) {
    throw new InvalidSegmentError('The segments are not as planned', { cause: error });
  }
  return result;
}
