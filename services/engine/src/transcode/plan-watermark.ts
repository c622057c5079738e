import type { ClaimedWatermark, WatermarkPlan } from '@framelane/contracts/watermark';
import { explainToolError } from '../ffmpeg/errors.ts';
import { WATERMARK_INPUT } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { decodePicture } from '../source/cover.ts';
import { watermarkOptions } from '../source/whitelist.ts';
import { refusal } from '../transcode-failure.ts';
import type { TranscodeJobContext } from './job-source.ts';

/**
 * The watermark of a plan. Decodes the image, whose file is in the directory: filters would leave out a watermark that cannot be decoded. Throws a
 * refusal then.
 */
export async function planWatermark(
  { image: _, ...watermark }: ClaimedWatermark,
  directory: string,
  { tools, settings, signal }: Pick<TranscodeJobContext, 'tools' | 'settings' | 'signal'>,
): Promise<WatermarkPlan> {
  const options = {
    program: tools.ffprobe,
    cwd: directory,
    signal,
    limitSeconds: settings.limits.probeSeconds,
    formats: [...watermarkOptions(watermark.format), WATERMARK_INPUT],
  };
  try {
    const image = await decodePicture(0, options);
    if (image !== null) return { ...watermark, image };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error.end !== 'exit') throw explainToolError(error, 'probe');
  }
  throw refusal(
    'watermark_unusable',
    'The image of the watermark cannot be decoded. Upload another image, and create the video again with that one.',
  );
}
